"""Groups explained: what is typical of each, what sets it apart, a rule, its doubtful objects."""

from consilience.explain._profile import Profile, profile

__all__ = ["Profile", "profile"]
