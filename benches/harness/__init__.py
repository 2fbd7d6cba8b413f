"""The benchmark's machinery: problems in, times out. ``../README.md`` says what is measured, ``../run.py`` runs it."""
