"""The ground floor: trees, encodings, checks and parallel work; knows no method and no pipeline."""
