//! (see the room's own files)
