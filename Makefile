# make docs: the documentation as a site, in build/docs; every warning is an error.
PYTHON ?= python

.PHONY: docs pictures clean

docs:
	$(PYTHON) -m sphinx -W --keep-going -q -b html docs build/docs
	@echo "open build/docs/index.html"

# The pictures of the tutorials, the gallery and the reports, drawn by code of the documentation.
pictures:
	$(PYTHON) docs/examples/pages.py
	$(PYTHON) docs/examples/gallery.py
	$(PYTHON) docs/examples/report.py
	$(PYTHON) docs/examples/explore.py

clean:
	rm -rf build/docs docs/api/generated
