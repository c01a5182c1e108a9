// Compiled once for its precompiled header (src/modules.cmake).
