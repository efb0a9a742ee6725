# make docs: the documentation as a site, in build/docs; every warning is an error.
PYTHON ?= python

.PHONY: docs pictures clean

docs:
	$(PYTHON) -m sphinx -W --keep-going -q -b html docs build/docs
	@echo "open build/docs/index.html"

# The pictures of the tutorials and the gallery, drawn by the code on their pages.
pictures:
	$(PYTHON) docs/examples/pages.py
	$(PYTHON) docs/examples/gallery.py

clean:
	rm -rf build/docs docs/api/generated
