"""The commands behind `consilience.cli`: options in, files and a short report out."""
