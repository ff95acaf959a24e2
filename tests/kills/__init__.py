"""Random cases of kills, power cuts and other hands in virtual servers: drawn, predicted, run, compared, recorded (`make kills`)."""
