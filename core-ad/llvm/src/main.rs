//! `ffgrad-llvm`: the worker, the only part of ffgrad that links LLVM.
//!
//! It reads one [`Request`](core_ad::protocol::Request) a line from standard input and answers each
//! with one line. It spawns nothing; compilers and the differentiation engine are the driver's
//! children. A crash here is an end of file there, and a typed error for the user, which says what the worker was at.

mod arena;
mod arithmetic;
mod bypasses;
mod choices;
mod claims;
mod copies;
mod copy_types;
mod cross_iteration;
mod delayed;
mod edges;
mod emit;
mod endless;
mod entries;
mod exceptions;
mod exit_values;
mod fortran;
mod gathers;
mod globals;
mod graph;
mod improve;
mod indirect;
mod inlining;
mod ir;
mod lifetimes;
mod linear;
mod linkage;
mod loops;
mod merged;
mod mixed_activity;
mod objects;
mod openmp;
mod passes;
mod places;
mod rule_check;
mod rules;
mod running;
mod saturation;
mod session;
mod snapshots;
mod stencil;
mod threads;
mod trail;
mod trailing;
mod turn;
mod types;
mod unread;
mod value_paths;
mod vecmath;
mod walks;

use core_ad::protocol::{Request, Response};
use inkwell::context::Context;
use session::Session;
use std::io::{self, BufRead, Write};

fn main() -> io::Result<()> {
    if std::env::args().any(|a| a == "--version") {
        println!("ffgrad-llvm {} (LLVM 22.1)", env!("CARGO_PKG_VERSION"));
        return Ok(());
    }
    trail::keep();
    passes::keep_stores_apart();
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
