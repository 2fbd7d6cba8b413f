//! The table of Enzyme's known error messages: meaning and remedies.
//!
//! A row is found by the words that Enzyme prints. `logs/NAME.log` is an error stream with them and `logs/NAME.txt`
//! what the user reads; the tests of [`super::enzyme`] hold that no row is without.

/// What Enzyme prints, and what ffgrad makes of it.
pub struct Message {
    /// Name of its log and of its golden.
    pub name: &'static str,
    /// Any of these stands in what Enzyme prints.
    pub pattern: &'static [&'static str],
    /// The code of the diagnosis.
    pub code: &'static str,
    /// In plain words: `{f}` is the user's function, `{what}` what Enzyme names after its words.
    pub meaning: &'static str,
    /// What to do.
    pub remedies: &'static [&'static str],
}

const GIVE_SOURCE: &str = "Give its source too: enzyme([\"FILE\", \"OTHER\"], ...), or its folder,";
const REGISTER: &str = "register a derivative of it (derivatives={...}, `ffgrad explain custom-derivatives`),";
const INACTIVE: &str = "or mark it inactive if no derivative flows through it: inactive=[\"{what}\"].";
const OUTSIDE: &str = "Move the marked line into a function of its own and register a derivative of it (`ffgrad explain custom-derivatives`),";
const OR_INACTIVE: &str = "or mark that function inactive=[...] if no derivative flows through it.";
const REPORT: &str = "This is a bug of ffgrad or of Enzyme: please report it with the source.";
const LOOSE: &str = "or allow a guess with loose_types=True: the gradient is then checked before it is returned.";

/// All messages. The first that is found counts, so the more specific ones stand first.
pub const KNOWN: &[Message] = &[
    Message {
        name: "inline-assembly",
        pattern: &[" asm \"", " asm sideeffect"],
        code: "inline-assembly",
        meaning: "`{f}` runs inline assembly, which cannot be differentiated",
        remedies: &[
            "Write the block in C, or move it into a function of its own and mark that inactive or give its derivative.",
        ],
    },
    Message {
        name: "missing-derivative",
        pattern: &[
            "No augmented forward pass found for ",
            "No reverse pass found for ",
            "No forward mode derivative found for ",
            "No forward pass found for ",
        ],
        code: "missing-derivative",
        meaning: "`{f}` calls `{what}`, which has no body and no known derivative",
        remedies: &[GIVE_SOURCE, REGISTER, INACTIVE],
    },
    Message {
        name: "opaque-call",
        pattern: &["No create nofree of empty function (", "unhandled, create no free of empty function: "],
        code: "opaque-call",
        meaning: "`{f}` calls `{what}`, which has no body here and could free memory that the derivative needs",
        remedies: &[GIVE_SOURCE, REGISTER, INACTIVE],
    },
    Message {
        name: "unknown-callee",
        pattern: &[
            "No create nofree of unknown value",
            "Attempting to call an indirect active function whose runtime value is inactive",
        ],
        code: "indirect-call",
        meaning: "`{f}` calls through a pointer, and Enzyme cannot determine which function that is",
        remedies: &["Call the function by its name, with a switch where there are several."],
    },
    Message {
        name: "variadic-call",
        pattern: &["umber of arg operands != function parameters"],
        code: "variadic-call",
        meaning: "`{f}` calls a function with a variable number of arguments (`...`), which cannot be differentiated",
        remedies: &[
            "If it only writes a message, mark it inactive: inactive=[\"NAME\"], the name of the function that is called there.",
            "Else pass the numbers in an array, or write one function for each number of arguments.",
        ],
    },
    Message {
        name: "unknown-copy",
        pattern: &["Cannot deduce type of copy", "failed to deduce type of copy"],
        code: "unknown-type",
        meaning: "Enzyme cannot determine whether memory that `{f}` moves holds numbers or addresses",
        // A guess would be addresses, and the derivatives of all that is copied would be lost.
        remedies: &[
            "Copy the elements in a loop instead of memcpy or a union, or give local arrays their element type.",
        ],
    },
    Message {
        name: "unknown-type",
        pattern: &[
            "Cannot deduce type of ",
            "failed to deduce type of ",
            "failed to deduce adding type of cast ",
            "Cannot deduce adding type",
        ],
        code: "unknown-type",
        meaning: "Enzyme cannot determine whether memory that `{f}` moves holds numbers or addresses",
        remedies: &[
            "Copy the elements in a loop instead of memcpy or a union, give local arrays their element type,",
            LOOSE,
        ],
    },
    Message {
        name: "type-conflict",
        pattern: &[
            "Illegal updateAnalysis prev:",
            "Illegal updateBinop",
            "Illegal updateMemTransfer Analysis",
            "Performed illegal updateAnalysis",
            "IllegalAddingType val:",
            "Illegal orIn: ",
            "Illegal binopIn(",
        ],
        code: "type-conflict",
        meaning: "`{f}` uses the same memory for numbers and for something else (integers, addresses, another precision), by Enzyme's type analysis",
        remedies: &[
            "Use memory for one type only: no union, EQUIVALENCE, cast or container whose nodes mix keys, links and numbers;",
            "keep the numbers in an array of their own and only their indices in the container.",
        ],
    },
    Message {
        name: "bit-arithmetic",
        pattern: &["cannot handle unknown binary operator: ", "cannot handle above cast"],
        code: "bit-arithmetic",
        meaning: "`{f}` computes with an integer that Enzyme takes for the bits of a floating-point number, which have no derivative",
        remedies: &[
            "Use the mathematical function (fabs, copysign, frexp) instead of bit operations.",
            "A count or an index stays one in a variable or an array of integers, not in memory that holds numbers too; of a \
             second derivative, take differences of the gradient.",
        ],
    },
    Message {
        name: "unknown-intrinsic",
        pattern: &[
            "cannot handle (reverse) unknown intrinsic",
            "cannot handle (forward) unknown intrinsic",
            "cannot handle (augmented) unknown intrinsic",
        ],
        code: "unknown-builtin",
        meaning: "`{f}` uses the compiler's built-in `{what}`, which has no known derivative",
        remedies: &["Write it in plain arithmetic or with functions of <math.h>.", OUTSIDE, OR_INACTIVE],
    },
    Message {
        name: "unknown-instruction",
        pattern: &["cannot handle unknown instruction", "Unknown instruction type encountered!"],
        code: "unknown-builtin",
        meaning: "`{f}` compiles to an instruction that has no known derivative",
        remedies: &["Write the marked line in plain arithmetic.", OUTSIDE, OR_INACTIVE],
    },
    Message {
        name: "atomic-update",
        pattern: &["Active atomic inst not yet handled", "Unimplemented masked atomic fadd for ptr:"],
        code: "atomic-update",
        meaning: "`{f}` updates a number atomically, by an operation that has no derivative",
        remedies: &[
            "Only atomic addition of float or double has one: `#pragma omp atomic` with `+=`.",
            OUTSIDE,
            OR_INACTIVE,
        ],
    },
    Message {
        name: "openmp-task",
        pattern: &["unhandled openmp function: ", "could not derive underlying task"],
        code: "openmp-construct",
        meaning: "`{f}` uses an OpenMP construct that has no derivative",
        remedies: &[
            "`ffgrad explain parallel` lists those that have. Write it as a parallel loop, or leave out -fopenmp.",
        ],
    },
    Message {
        name: "mpi-operation",
        pattern: &["unhandled mpi_allreduce op: ", "unhandled mpi_reduce op: "],
        code: "mpi-operation",
        meaning: "`{f}` reduces over ranks with an operation that has no derivative",
        remedies: &["MPI_SUM has one. Else gather the numbers with MPI_Allgather and compute from them on each rank."],
    },
    Message {
        name: "blas-call",
        pattern: &[
            "cannot handle blas argument",
            "cannot handle unknown trans blas value",
            "Complex inputs not yet supported in reverse mode for BLAS calls",
            "Runtime Activity not yet implemented for Forward-Mode BLAS calls",
        ],
        code: "blas-call",
        meaning: "`{f}` calls a BLAS routine with arguments for which it has no derivative",
        remedies: &[
            "Compute the scalar factors before the call and pass them as constants, or write the product as a loop.",
            OUTSIDE,
            OR_INACTIVE,
        ],
    },
    Message {
        name: "global-variable",
        pattern: &[
            "cannot compute with global variable that doesn't have marked shadow global",
            "cannot find shadow for ",
            "unknown constant to create shadow of",
        ],
        code: "global-variable",
        meaning: "`{f}` keeps numbers that depend on its inputs in a global variable",
        remedies: &["Make it a local variable, or a parameter that is passed on."],
    },
    Message {
        name: "mixed-activity",
        pattern: &[
            "Mismatched activity for: ",
            "Mismatched estimated activity type for ",
            "Illegal activity for extractvalue",
        ],
        code: "mixed-activity",
        meaning: "in `{f}` the same variable holds, at different times, what a derivative flows through and what none does",
        remedies: &["Use two variables, or copy the constant data into memory of the function's own before they meet."],
    },
    Message {
        name: "filled-memory",
        pattern: &["couldn't handle non constant inst in memset to propagate differential to"],
        code: "filled-memory",
        meaning: "`{f}` fills memory with bytes that depend on its inputs, which has no derivative",
        remedies: &["Assign the elements in a loop instead of memset."],
    },
    Message {
        name: "realloc",
        pattern: &["could not statically determine size of realloc ", "Unknown loop reallocation"],
        code: "realloc",
        meaning: "`{f}` calls `realloc`, on which Enzyme fails",
        remedies: &["Allocate the new block with malloc, copy, and free the old one, or use std::vector."],
    },
    Message {
        name: "allocation",
        pattern: &[
            "illegal free",
            "unknown function to free",
            "Illegal deallocator",
            "unhandled allocation",
            "unknown allocation function",
            "Unknown allocation to upgrade",
            "msvc deletion not handled",
        ],
        code: "allocation",
        meaning: "`{f}` allocates or frees memory by a function that Enzyme does not know",
        remedies: &[
            "Use malloc and free, new and delete, or std::vector; a pool of your own: allocate before, pass it as scratch.",
        ],
    },
    Message {
        name: "loop-form",
        pattern: &[
            "SE could not compute loop limit of ",
            "Could not compute outermost loop limit",
            "Could not find loop preheader",
            "Could not find loop for: ",
            "Could not find loop index: ",
            "Illegal loop cache type:",
        ],
        code: "loop-form",
        meaning: "Enzyme cannot store the values that a loop of `{f}` computes: it cannot compute the number of its iterations",
        remedies: &[
            "Write it as `for (int i = 0; i < n; i++)` without goto into or out of it, and count iterations in an integer;",
            "or move the loop's body into a function of its own.",
        ],
    },
    Message {
        name: "value-not-kept",
        pattern: &[
            "Differential Load cannot be unwrapped ",
            "Load cannot be unwrapped ",
            "Load must be recomputed ",
            "Cannot unwrap ",
        ],
        code: "value-not-kept",
        meaning: "Enzyme can neither store nor recompute a value of `{f}` that its derivative needs",
        remedies: &[
            "Assign the value to a local variable before it is used, or move the marked line into a function of its own.",
        ],
    },
    Message {
        name: "deep-pointers",
        pattern: &[" not handling more than "],
        code: "deep-pointers",
        meaning: "`{f}` follows pointers to pointers deeper than Enzyme analyses",
        remedies: &[
            "Take the innermost pointer into a local variable first, or use flat arrays.",
            "engine_options=[\"enzyme-max-type-depth=12\"] makes it follow more levels (the default is 6).",
        ],
    },
    Message {
        name: "number-format",
        pattern: &["Unknown type for libm", "Unknown type within frexp", "Invalid float width"],
        code: "number-format",
        meaning: "`{f}` calls a mathematical function in a number format that has no derivatives (long double, __float128)",
        remedies: &["Compute in double or float there."],
    },
    Message {
        name: "invalid-derivative",
        pattern: &["function failed verification", "Broken module found, compilation aborted!"],
        code: "invalid-derivative",
        meaning: "Enzyme's derivative of `{f}` is not valid LLVM IR",
        remedies: &["Move the marked line, or the loop around it, into a function of its own.", REPORT],
    },
    Message {
        name: "engine-memory",
        pattern: &["out of memory", "an instance of 'std::bad_alloc'", "of type std::bad_alloc"],
        code: "engine-memory",
        meaning: "Enzyme ran out of memory on `{f}`",
        remedies: &[
            "Move large constant tables out of the function, or pass them as parameters;",
            "engine_options=[\"enzyme-max-type-offset=64\"] makes it analyse less of them.",
        ],
    },
    Message {
        name: "engine-call",
        pattern: &[
            "failed to find fn to differentiate",
            "attempting to differentiate function without definition",
            "Cannot cast __enzyme_autodiff",
            "Cannot cast return type of gradient ",
            "Too few arguments passed to __enzyme_autodiff",
            "Had too many arguments to __enzyme_autodiff",
            "__enzyme_autodiff missing argument shadow at index ",
            "Incorrect argument type passed to __enzyme_autodiff",
            "Bad function type of custom reverse pass for function ",
            "Cannot use provided custom derivative pass",
            "-- metadata incorrect",
            "illegal enzyme ",
        ],
        code: "engine-call",
        meaning: "Enzyme does not accept ffgrad's request for `{f}`",
        remedies: &[REPORT],
    },
    Message {
        name: "engine-crash",
        pattern: &["Assertion `", "UNREACHABLE executed"],
        code: "engine-crash",
        meaning: "Enzyme crashed on `{f}`",
        remedies: &["Rewrite the marked line.", OUTSIDE, OR_INACTIVE],
    },
];

/// The row of what came as a signal alone.
pub fn crash() -> &'static Message {
    named("engine-crash")
}

/// The row for Enzyme killed by the system.
pub fn memory() -> &'static Message {
    named("engine-memory")
}

/// A row by its name; the last where there is none of that name, which the tests exclude.
pub fn named(name: &str) -> &'static Message {
    let last = KNOWN.len() - 1;
    KNOWN.iter().find(|m| m.name == name).unwrap_or(&KNOWN[last])
}
