//! `ffgrad-llvm`: the worker, the only program of ffgrad that links LLVM.
//!
//! It reads one [`Request`](core_ad::protocol::Request) a line from standard input and answers each with one line. It
//! starts no process; compilers and Enzyme are children of the driver. If it crashes, the driver sees an end of file and
//! reports the step that the crash trace names.

mod analysis;
mod derive;
mod entry;
mod ir;
mod llvm;
mod lowering;
mod notes;
mod optimize;
mod pipeline;
mod reduce;
mod rules;
mod runtime;
mod session;
mod workarounds;

use core_ad::protocol::{Request, Response};
use inkwell::context::Context;
use session::Session;
use std::io::{self, BufRead, Write};
use std::path::Path;

fn main() -> io::Result<()> {
    if std::env::args().any(|a| a == "--version") {
        println!("ffgrad-llvm {} (LLVM 22.1)", env!("CARGO_PKG_VERSION"));
        return Ok(());
    }
    ir::crash_trace::keep();
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let [flag, pass, path] = &arguments[..]
        && flag == "--run"
    {
        return run_pass(pass, path);
    }
    llvm::pipelines::set_options();
    let context = Context::create();
    let mut session = Session::new(&context);
    let mut output = io::stdout().lock();
    for line in io::stdin().lock().lines() {
        let response = match serde_json::from_str::<Request>(&line?) {
            Ok(request) => session
                .run(request)
                .unwrap_or_else(|message| Response::Failed { message, diagnosis: session.take_refusal() }),
            Err(error) => Response::Failed { message: format!("unreadable request: {error}"), diagnosis: None },
        };
        serde_json::to_writer(&mut output, &response)?;
        output.write_all(b"\n")?;
        output.flush()?;
    }
    Ok(())
}

/// `--run PASS FILE`: runs one pass on textual IR and prints the result.
fn run_pass(pass: &str, path: &str) -> io::Result<()> {
    let context = Context::create();
    let text = pipeline::run_alone(pass, &context, Path::new(path)).map_err(io::Error::other)?;
    io::stdout().write_all(text.as_bytes())
}
