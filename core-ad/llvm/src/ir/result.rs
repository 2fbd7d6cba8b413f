//! The worker's result type: the error of a job is a message.

/// A value, or why there is none. The driver adds the stage and the user's function.
pub type Result<T> = std::result::Result<T, String>;
