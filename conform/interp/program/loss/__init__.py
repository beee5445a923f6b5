"""Rules of losses: of elements, of classes, of distances."""
