"""Where names live that are loaded when they are first used."""

homes = {}
