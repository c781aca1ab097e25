//! Programs that ckpt refuses are in `cases/`, each with what ckpt says of it in a `.txt` of the same name.
