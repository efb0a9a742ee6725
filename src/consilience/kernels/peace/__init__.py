"""Sums and steps of the models of PEACE, the dyadic aspect model and the squared error."""
