"""Data: manifests of every data set and weight file, download and verification, folder layouts and splits."""
