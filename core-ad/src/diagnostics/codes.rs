//! Every code that an error can carry, explained: what `ffgrad explain` prints.

use serde::Serialize;

/// A kind of problem.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Code {
    /// Its stable name.
    pub name: &'static str,
    /// The exception that carries it.
    pub class: &'static str,
    /// What has happened.
    pub meaning: &'static str,
    /// What to do.
    pub remedy: &'static str,
}

macro_rules! codes {
    ($($name:literal $class:literal $meaning:literal $remedy:literal)*) => {
        &[$(Code { name: $name, class: $class, meaning: $meaning, remedy: $remedy }),*]
    };
}

/// All codes, by name.
pub const ALL: &[Code] = codes! {
    "adapter" "CompileError" "The function takes objects (containers, views, matrices), and the adapter that ffgrad made for it does not compile."
    "Write a function around it that takes pointers to numbers, and numbers, and give that one's name (`ffgrad explain adapters`)."
    "alignment" "MisuseError" "C ABI: the data of an array do not lie at a multiple of their element's size."
    "Allocate it with malloc, or copy it."
    "allocation" "DifferentiationError" "The function allocates or frees memory by a function that Enzyme does not know."
    "Use malloc and free, new and delete, or std::vector; a pool of your own: allocate before the call, and pass it as scratch."
    "ambiguous-function" "CompileError" "Several functions have this name: overloads, or functions in several namespaces."
    "Give the parameters too, as the message spells them: 'ns::f(double const*, int)'."
    "ambiguous-rule-function" "CompileError" "Several functions have a name that the option `derivatives` gives."
    "Give the name with its parameters, or the symbol."
    "architecture" "DeviceError" "The GPU is too old for the code that is generated."
    "Use a GPU of compute capability 6.0 or later, or CPU tensors."
    "argnums" "SignatureError" "`argnums` names an input that does not exist, or one that has no derivative: an integer, or `const` in the signature."
    "Choose positions of other inputs, counted from 0 in the order of the signature."
    "argument" "ArgumentError" "An argument of `enzyme` and its relatives, or an option, is of a kind that it does not take; the message names it and what it takes."
    "Give what the message says."
    "arity" "SignatureError" "The call has more or fewer inputs than the function; the message lists them."
    "Give one value for each name left of `->` in the signature, in that order."
    "atomic-update" "DifferentiationError" "The function updates a number atomically by an operation other than addition."
    "Use `#pragma omp atomic` with `+=`, or give the block a derivative of its own (`ffgrad explain custom-derivatives`)."
    "batch-size" "SignatureError" "The batch dimensions of the inputs do not fit each other."
    "Leading dimensions broadcast as in NumPy: each pair is equal, or one of the two is 1."
    "bit-arithmetic" "DifferentiationError" "The code computes with the bits of a floating-point number, which have no derivative, or with an integer of which Enzyme cannot know that it is none."
    "Use the mathematical function instead: fabs, copysign, frexp, ldexp."
    "blas-call" "DifferentiationError" "A BLAS routine is called with arguments for which it has no derivative: a scalar factor that depends on the inputs, complex numbers."
    "Compute such factors before the call, or write the product as a loop."
    "bounds-on-gpu" "DeviceError" "The option bounds=\"check\" was given for a kernel, and the arrays are a GPU's: only calls on the CPU are run between guards."
    "Call it with arrays of the CPU, or leave bounds=\"check\" out. On a GPU, compute-sanitizer names the line."
    "cache" "CacheError" "The cache folder cannot be used, others can write to it, or its content is damaged."
    "Set FFGRAD_CACHE_DIR to a folder of your own with room; `ffgrad cache verify` looks for damage."
    "capture" "DeviceError" "A CUDA graph is being captured, and the call would have to load code or wait."
    "Call the kernel, and its derivative, once before the capture."
    "changed-input" "ChangedInputError" "An array was written to between `vjp` and the pullback, which reads it again."
    "Give vjp a copy of it, or call the pullback before the array is written to."
    "checkpoint" "DifferentiationError" "A loop inside the function was to be checkpointed, and cannot be: the message names what stands against it."
    "Change that line, or write the loop as steps, with the option `repeat` (`ffgrad explain checkpointing`)."
    "closed-handle" "MisuseError" "C ABI: a handle was used that has been closed, or is none of ffgrad's."
    "Close a handle last, once, and keep no copies of it."
    "compiler-failed" "CompileError" "The compiler crashed, was killed or took longer than the option `timeout` allows."
    "Raise timeout=SECONDS for a large source; `ffgrad doctor` tries the compiler."
    "constant-memory" "CompileError" "A CUDA kernel reads __constant__ memory that only host code would fill, which never runs."
    "Give the variable its value, constants={\"name\": array} or where it is declared, or make it a parameter of the kernel."
    "count" "MisuseError" "C ABI: a call has more or fewer arrays than the function has inputs or outputs."
    "ffgrad_describe has the numbers."
    "cpu" "DeviceError" "The function was compiled for a CPU (option `cpu`) that has instructions which this machine lacks; the message names them."
    "Pack it with `ffgrad export` and run it elsewhere, or choose a lower level."
    "cuda" "DeviceError" "The CUDA driver returned an error, which the message quotes."
    "Check the GPU with nvidia-smi. The same kernel runs on CPU tensors."
    "deep-pointers" "DifferentiationError" "The function follows pointers to pointers deeper than Enzyme analyses."
    "Take the innermost pointer into a local variable first, or raise engine_options=[\"enzyme-max-type-depth=12\"]."
    "defined-twice" "CompileError" "Two of the sources define a function or variable of the same name."
    "Give each source once; make a definition that several files contain static or inline."
    "depends-on-earlier-calls" "DifferentiationError" "Two calls of the function with the same arguments differ: it keeps state from call to call, uses random numbers or the time, or reads memory that is not its own (a dimension too small for what it reads)."
    "Pass what is carried over as an input and return it as an output; give random numbers and times as inputs."
    "derivative-crashed" "DifferentiationError" "The derivative crashed in a call on a path that no verified call had taken; the function itself returned there."
    "Memory of the process may be damaged: save what matters and start it again. verify=\"always\" checks each call in another process first."
    "derivative-out-of-memory" "OutOfMemoryError" "The derivative needs more memory than there is: its reverse sweep keeps values of every iteration."
    "Use forward mode (jvp), or let the function do fewer iterations in a call."
    "derivative-stopped" "DifferentiationError" "The derivative came to a check of the function's that fails, and the function itself passes it: rounding decides."
    "Leave some room in the test: optimised code rounds sums and products in another order."
    "device" "DeviceError" "An input is on another device than the function is compiled for, or is not a dense array."
    "Move it to the CPU before the call, or make a sparse one dense. CUDA kernels (.cu) take arrays on a GPU."
    "dimensions" "MisuseError" "C ABI: an array has more dimensions than any can have."
    "Check the member `ndim`, which may be uninitialised."
    "driver-version" "DeviceError" "The NVIDIA driver is older than the generated code (PTX 7.5, CUDA 11.5)."
    "Update the driver, or use CPU tensors: the same kernel runs there."
    "dtype" "DtypeError" "An input has another element type than its parameter. Nothing is converted silently."
    "Convert the input before the call, or change the type in the source."
    "element-type" "MisuseError" "C ABI: an array has a code of an element type that does not exist."
    "Use FFGRAD_FLOAT32 and the like, of ffgrad.h."
    "engine-call" "DifferentiationError" "Enzyme does not accept ffgrad's request."
    "This is a bug of ffgrad: please report it with the source."
    "engine-crash" "DifferentiationError" "Enzyme crashed. Where it printed no location, ffgrad bisected the function, and the message names the instruction without which it does not crash."
    "Rewrite that line, or move it into a function of its own that is inactive or has a derivative of yours."
    "engine-failed" "DifferentiationError" "Enzyme could not be started."
    "`ffgrad doctor` tries it and prints how to fix it."
    "engine-memory" "DifferentiationError" "Enzyme ran out of memory."
    "Move large constant tables out of the function, or try engine_options=[\"enzyme-max-type-offset=64\"]."
    "engine-refused" "DifferentiationError" "Enzyme refused the function with a message that ffgrad does not know; it is shown whole."
    "The message names a folder with Enzyme's input and output. Simplify the marked line, or move it into a function that is marked inactive."
    "engine-size" "DifferentiationError" "The derivative is larger than what Enzyme may write, of which most is types of what a function keeps."
    "Differentiate a part, register derivatives for functions that are called often, or mark what no derivative flows through inactive=[...]."
    "engine-timeout" "DifferentiationError" "Differentiation took longer than the option `timeout` allows. Type analysis may not end on large constant tables."
    "Raise timeout=SECONDS, or engine_options=[\"enzyme-max-type-offset=64\"], or move the table out of the function."
    "engine-version" "DifferentiationError" "The Enzyme plugin was built for an LLVM that cannot read ffgrad's IR."
    "Build Enzyme against LLVM 22, or use engine=\"catalyst\"."
    "executable-outdated" "SignatureError" "An executable of JAX was made from another version of the function: its source, a header or a tool has changed since."
    "Trace and compile the program again; take the executable out of the cache or the file it came from."
    "filled-memory" "DifferentiationError" "The function fills memory with bytes that depend on its inputs."
    "Assign the elements in a loop instead of memset."
    "flags" "MisuseError" "C ABI: a call has flags that do not exist."
    "Use FFGRAD_ACCUMULATE, or 0."
    "foreign-crash" "ForeignError" "The function itself crashed or ended its process at these arguments, in the process that verifies derivatives or that `ffgrad check` runs it in."
    "Check sizes and indices; compile it with -fsanitize=address and run it alone. `ffgrad check` takes arguments that suit it: --range, --value, --dim."
    "foreign-exception" "ForeignError" "The function threw a C++ exception; its results were dropped."
    "Catch it in the source, or around the call."
    "fortran-runtime" "DifferentiationError" "The function calls flang's runtime library for an operation without a derivative: growing arrays, random numbers, whole arrays of derived type or characters."
    "Write it component by component, with arrays of numbers (`ffgrad explain fortran`)."
    "global-variable" "DifferentiationError" "The function keeps numbers that depend on its inputs in a global variable."
    "Make it a local variable, or a parameter that is passed on."
    "graph-outdated" "SignatureError" "A graph of TensorFlow was made from another version of the function, which had other outputs."
    "Make the graph, or save the model, again from this source."
    "illegal-address" "DeviceError" "A kernel read or wrote outside of its arrays. GPUs report this late: it may be one that ran before."
    "Check the kernel's bounds (compute-sanitizer names the line), and start the process again: its GPU context is lost."
    "implicit" "CompileError" "A solver has an `implicit` derivative, and the prototypes of the solver and its residual do not fit each other."
    "Give the residual the solver's parameters by the same names, and one more for its values (`ffgrad explain custom-derivatives`)."
    "implicit-unsolved" "DifferentiationError" "A solver with the implicit function theorem's derivative did not solve in this call, or the Jacobian at its solution is singular: a gradient from there would be wrong."
    "Give the solver more iterations, a smaller tolerance or wider bounds (`ffgrad explain custom-derivatives` says how a solution is judged)."
    "included-twice" "CompileError" "Several files of a folder have the name that a source includes, and they differ."
    "Name the folder of the one that counts in `include_dirs`, or give the folder below that has only one of them."
    "indirect-call" "DifferentiationError" "The function calls through a pointer that Enzyme cannot follow."
    "Call the function by its name, with a switch where there are several."
    "inline-assembly" "DifferentiationError" "The function runs inline assembly, which cannot be differentiated."
    "Write the block in C, or move it into a function of its own that is inactive or has a derivative of yours."
    "invalid-derivative" "DifferentiationError" "Enzyme's derivative of the function is not valid LLVM IR: a bug of Enzyme."
    "Move the marked line, or the loop around it, into a function of its own, and report it with the source."
    "kernel-failed" "DeviceError" "A kernel failed while it ran. GPUs report this late: it may be one that ran before."
    "CUDA_LAUNCH_BLOCKING=1 finds the launch. Start the process again: its GPU context is lost."
    "large-folder" "CompileError" "A folder was given as source, and it has more files than ffgrad searches."
    "Give the folder below it that has the sources, or the files themselves."
    "launch" "DeviceError" "The grid, the block or the shared memory of a launch is not possible."
    "`ffgrad explain cuda` describes grid, block and shared."
    "launch-resources" "DeviceError" "The kernel needs more registers or shared memory than a block of that size has."
    "Use smaller blocks."
    "link" "CompileError" "The linker failed; the message quotes it."
    "Check the option `libraries`."
    "linker-failed" "CompileError" "The linker crashed, was killed or took longer than the option `timeout` allows."
    "`ffgrad doctor` tries it."
    "loop-form" "DifferentiationError" "Enzyme cannot compute the number of iterations of a loop, so it cannot store the values that the loop computes."
    "Write it as a loop that counts an integer, without goto into or out of it, or move its body into a function of its own."
    "memory-limit" "CompileError or DifferentiationError" "A compiler or Enzyme wanted more memory than each may have: three quarters of the machine's or the container's."
    "Set FFGRAD_MEMORY_LIMIT to more (16G; none for no limit), or split the function, or move large tables out of it."
    "missing-derivative" "DifferentiationError" "The function calls another one, which has no body in the sources and no known derivative."
    "Give its source too, register a derivative (`ffgrad explain custom-derivatives`), or mark it inactive if none flows through it."
    "missing-header" "CompileError" "An #include was not found."
    "Add the header's folder: include_dirs=[\"...\"]."
    "missing-input" "MisuseError" "C ABI: a call leaves out an input."
    "Give an array for each input, in the order of the signature."
    "missing-module" "CompileError" "A Fortran module was not found."
    "Give its source too, in any order, or the folder of its module file."
    "missing-rule-part" "CompileError" "A derivative names a function that the sources do not define."
    "Check the name; derivatives are functions of the source itself."
    "mixed-activity" "DifferentiationError" "A variable holds data with a derivative at one time and constant data at another."
    "Use two variables, or copy the constant data into memory of the function's own before they meet."
    "mixed-devices" "DeviceError" "The inputs of one call are on different devices."
    "Move them to one device before the call; give integers by value as Python numbers."
    "mpi-header" "CompileError" "A program with MPI's header does not compile."
    "Set FFGRAD_MPICC to the compiler wrapper of the MPI that the program runs with."
    "mpi-module" "CompileError" "The source uses a Fortran module of MPI, which only the compiler that wrote it can read."
    "Write `include 'mpif.h'` in its place, and pass mpi=True."
    "mpi-operation" "DifferentiationError" "The function reduces over ranks with an operation that has no derivative."
    "Use MPI_SUM, or gather the numbers and compute from them on each rank."
    "mpi-option" "CompileError" "The source uses MPI, and the option `mpi` is not set."
    "Add mpi=True: gradients are then checked by all ranks together."
    "mpi-requests" "CompileError" "Requests of this MPI are integers, which Enzyme cannot follow."
    "Use OpenMPI, or MPI_Send and MPI_Recv."
    "nested-batched-gradients" "DifferentiationError" "`is_grads_batched=True` is used inside another such map, and PyTorch cannot nest these two."
    "Use torch.func.vmap, which nests."
    "no-derivative" "SignatureError" "C ABI: a place is given for the derivative of an argument that has none: `const` in the signature, or an integer."
    "Leave its place empty: FFGRAD_NONE."
    "no-device" "DeviceError" "There is no GPU."
    "Use CPU tensors: the same kernel runs there."
    "no-driver" "DeviceError" "NVIDIA's driver cannot be loaded."
    "Use CPU tensors: the same kernel runs there."
    "no-entry" "DifferentiationError" "This artifact was built without the derivative that was asked for."
    "Report it: the driver should have built another."
    "no-flang" "CompileError" "A file of the folder that the function needs is Fortran, and there is no compiler for it."
    "Run `ffgrad toolchain install fortran`, or set FFGRAD_FLANG."
    "no-kernel" "DeviceError" "Only CUDA kernels run on a GPU."
    "Write the function as a kernel in a .cu file, or use CPU tensors."
    "no-memory" "DeviceError" "Foreign code needs numbers, and a tensor has a shape but no memory (meta and fake tensors)."
    "Give a tensor on the CPU. Without data only the shapes of values and gradients can be computed."
    "no-pack" "PackError" "A path is given as a pack's, and there is none."
    "Check the path; `ffgrad export PACK FILE FUNCTION` writes a pack."
    "no-source" "CompileError" "No source file was given."
    "Give at least one."
    "no-such-file" "CompileError" "A source file does not exist."
    "Check the path; the message has names close to it."
    "no-such-function" "CompileError" "The sources define no function of this name."
    "Check the name; the message has names close to it, or what there is."
    "no-third-derivative" "DifferentiationError" "A third derivative was asked for; values, first and second derivatives exist."
    "Leave create_graph=True out of the second derivative, or detach it."
    "not-one-number" "SignatureError" "A gradient or a Hessian needs a function that returns one number, and this one returns arrays or several outputs."
    "Use vjp or jacobian, or write a function that adds the outputs up."
    "null-pointer" "MisuseError" "C ABI: a pointer is null, or not aligned, where memory is needed."
    "The message names it; give it an address."
    "number-format" "DifferentiationError" "A mathematical function is called in a number format that has no derivatives."
    "Compute in double or float there."
    "opaque-call" "DifferentiationError" "The function calls another one, which has no body in the sources and could free memory that the derivative needs."
    "Give its source too, register a derivative, or mark it inactive if none flows through it."
    "openmp-construct" "DifferentiationError" "An OpenMP construct has no derivative; `ffgrad explain parallel` lists those that have one."
    "Use one of those, or leave out -fopenmp."
    "openmp-runtime" "CompileError" "No OpenMP runtime was found, or the process has loaded another one."
    "Run `ffgrad toolchain install openmp`, or set FFGRAD_OPENMP."
    "out-of-memory" "OutOfMemoryError" "There is no memory for a call's results, the copies of its inputs, its scratch arrays or shadows, on the CPU or the GPU."
    "Free some, or call with less at a time; look at the sizes of scratch arrays in the signature."
    "pack-build" "PackError" "A function from a pack was asked for something that needs a compiler."
    "Open the function from its source for that."
    "pack-damaged" "PackError" "A file of a pack is missing or has changed since it was written. Nothing was loaded."
    "Copy the pack again from where it was made."
    "pack-export" "PackError" "A function cannot be packed, or not for that GPU; the message has the reason."
    "Open it without that option."
    "pack-format" "PackError" "The pack was made by a version of ffgrad with another file format."
    "Export it again with the version that will open it."
    "pack-function" "PackError" "A pack has no function of that name; the message lists those it has."
    "`ffgrad contents PACK` lists all."
    "pack-lacks" "PackError" "A pack does not have the derivatives that were asked for."
    "The message has the command that adds them, to be run where there is a compiler."
    "pack-library" "PackError" "The system cannot load code of a pack: a shared library is missing, or older than where the pack was made."
    "Install what the message names; or export the pack on the older system."
    "pack-machine" "PackError" "A pack is for another operating system or architecture, or for a CPU with instructions that this machine lacks."
    "Export it for a CPU that both have: ffgrad export --cpu x86-64-v3."
    "pack-options" "PackError" "A function of a pack was opened with a signature or with options that its code was not built with."
    "Leave them out, or export it again with them."
    "pack-target" "PackError" "The path given for the pack exists already and is no pack, or cannot be written to."
    "Choose another name, in a folder that can be written to and has room."
    "panic" "InternalError" "C ABI: a defect of ffgrad was met, and kept from the caller's process."
    "Please report it with the source that led to it."
    "prototype" "CompileError" "The function's prototype has types that arrays cannot represent: unions, complex numbers, structures by value with members that ffgrad cannot set."
    "Write a small extern \"C\" function around it that takes numbers and pointers to numbers."
    "ptxas" "DeviceError" "NVIDIA's assembler refused the kernel."
    "The message quotes it; `ffgrad explain cuda` lists what is supported."
    "realloc" "DifferentiationError" "The function calls realloc, on which Enzyme crashes."
    "Allocate the new block with malloc, copy, and free the old one, or use std::vector."
    "repeat" "SignatureError" "The options of a loop over steps (`repeat`, `snapshots`, `memory`, `schedule`) do not fit each other, the signature or the call."
    "Follow the message; `ffgrad explain checkpointing` explains the role of each argument in the loop."
    "repeated-derivative" "DifferentiationError" "The derivative of one step passed its check, and that of several steps together is wrong."
    "Carry everything that a step keeps for the next one as an argument that is updated in place, or report it."
    "result" "SignatureError" "The memory that a caller of the C ABI gives for a result does not fit it; the message of the call has the reason."
    "Give memory of the result's type and shape, or let ffgrad allocate it."
    "result-dtype" "DtypeError" "C ABI: the memory for a result has another element type than the result."
    "ffgrad_output_shapes has types and shapes."
    "result-shape" "ShapeError" "C ABI: the memory for a result has another shape than the result."
    "ffgrad_output_shapes has types and shapes."
    "rule-parts" "CompileError" "A derivative in the option `derivatives` has too few or too many functions."
    "Give the forward and the reverse one and, if need be, one that saves (`ffgrad explain custom-derivatives`)."
    "rule-prototype" "CompileError" "A derivative that you gave has the wrong parameters; the message has the ones it needs."
    "Write it with that prototype (`ffgrad explain custom-derivatives`)."
    "rules" "CompileError" "ffgrad's own rule for a library function does not compile."
    "`ffgrad doctor`: the C library's headers may be missing."
    "rules-forward-twice" "DifferentiationError" "Forward mode over forward mode does not go through custom derivatives."
    "Use forward over reverse: hvp, or torch.func.hessian."
    "rules-without-arena" "DifferentiationError" "Memory that a custom derivative keeps can only be released by the arena, which this function cannot use."
    "Leave arena=True, or write the derivative without a saving part."
    "runtime" "CompileError" "ffgrad's own C runtime does not compile."
    "`ffgrad doctor`: the C library's headers may be missing. arena=False does not need it."
    "several-sources" "CompileError" "A kernel for a GPU is compiled from one file."
    "Include the others in it."
    "shadow-shape" "ShapeError" "A tangent or cotangent does not have the shape of its input or output."
    "Give it the same shape."
    "shape" "ShapeError" "Shapes contradict each other, the signature or the declared extents."
    "The message names the argument, and where the other value came from."
    "shared-memory" "DeviceError" "The kernel or its derivative needs more shared memory than a block has; the shadow doubles it."
    "Use smaller tiles, or a smaller `shared`."
    "shared-memory-twice" "DifferentiationError" "A kernel with shared memory has no second derivatives: the shadow of shared memory has no shadow."
    "Take first derivatives, or differences of them."
    "signature" "SignatureError" "The signature does not fit the prototype, or is ambiguous."
    "The message lists every problem and often has a signature to paste."
    "snapshot-disk" "DifferentiationError" "The folder for snapshots of a loop (`snapshot_dir`) cannot be used, or is full."
    "Give a folder that can be written to and has room, or fewer snapshots."
    "snapshots" "SignatureError" "A periodic schedule needs more snapshots."
    "Give as many as the message says, or schedule=\"binomial\", which works with any number."
    "source-changed" "CompileError" "The source was edited, or a library was built again, after the function was opened, and another derivative has to be built."
    "Open the function again: call enzyme(...) once more."
    "spec" "MisuseError" "C ABI: the specification of a function is no JSON, or lacks a member."
    "The comment at ffgrad_open in ffgrad.h describes it."
    "staging" "DifferentiationError" "Files of the build cannot be written or read: the disk is full, or somebody removed them."
    "Make room, or set FFGRAD_CACHE_DIR to another disk."
    "syntax" "CompileError" "The source does not compile; the message quotes the compiler's first error, with file and line."
    "Correct the source, or give flags, include_dirs and defines as your build system does."
    "third-derivative" "DifferentiationError" "A third derivative was asked for in JAX; values, first and second derivatives exist."
    "Use jax.lax.stop_gradient where a third derivative is not meant."
    "threads" "DifferentiationError" "The function runs threads of its own (std::thread, std::async, pthread_create); of threads only those of OpenMP can be differentiated."
    "Write the loop over the tasks as an OpenMP loop (`ffgrad explain parallel`), or run one task after the other."
    "too-many-inputs" "SignatureError" "The function has more inputs than a mask has bits."
    "Put numbers that belong together into an array."
    "toolchain" "ToolchainError" "A compiler or Enzyme is missing or does not work."
    "`ffgrad doctor` tries every tool; `ffgrad toolchain install` fetches what is missing."
    "type-conflict" "DifferentiationError" "According to Enzyme's type analysis, memory is used for numbers and for something else (integers, addresses, another precision)."
    "Use memory for one type only: no unions or casts, and no containers whose nodes mix keys, links and numbers."
    "undefined-symbol" "CompileError" "The function calls another one, which no source and no library defines."
    "Give its source too, or the library that has it: libraries=[\"NAME\"]."
    "unknown-builtin" "DifferentiationError" "The function uses a built-in or an instruction of the compiler that has no known derivative."
    "Write it in plain arithmetic or with functions of <math.h>, or register a derivative for a function around it."
    "unknown-cpu" "CompileError" "The option `cpu` names something that code cannot be compiled for."
    "Use native, or a level that many machines share: x86-64, x86-64-v2, x86-64-v3, x86-64-v4."
    "unknown-inactive-function" "CompileError" "The option `inactive` names a function that the sources do not use."
    "Check the name; C++ functions have their parameters."
    "unknown-language" "CompileError" "The source's extension is not known."
    "C files end in .c, C++ in .cpp, .cc or .cxx, Fortran in .f90 or .f, CUDA in .cu."
    "unknown-rule-function" "CompileError" "The option `derivatives` names a function that the sources do not use."
    "Check the name; C++ functions have their parameters."
    "unknown-type" "DifferentiationError" "Enzyme cannot determine whether memory that is moved holds numbers or addresses."
    "Copy element by element, give local arrays their element type, or (not for a copy) allow a guess with loose_types=True: it is checked."
    "unproven-gradient" "DifferentiationError" "Every pipeline gave a gradient that failed its check, or (verify=\"strict\") the check was inconclusive at these arguments. No gradient is returned. The message has the numbers of each pipeline."
    "Is a dimension too small for what the function reads? Is the function chaotic, or does it jump near these arguments (fewer steps, other arguments)? Else move what Enzyme cannot treat into a function of its own and mark it inactive, or rewrite it: copy buffers instead of swapping pointers. verify=\"off\" returns Enzyme's gradient without a check."
    "unproven-in-capture" "DifferentiationError" "A derivative must be verified before its first use, which is impossible while a CUDA graph is being captured."
    "Compute the derivative once before the capture."
    "unreadable-source" "CompileError" "A source file is there and cannot be read."
    "Check its permissions and its name."
    "unsupported-construct" "CompileError" "The source uses something that ffgrad cannot compile; the message names it."
    "Rewrite it: `ffgrad explain fortran` and `ffgrad explain cuda` list what is supported."
    "value-not-kept" "DifferentiationError" "Enzyme can neither store nor recompute a value that the derivative needs."
    "Assign it to a local variable before it is used, or move the marked line into a function of its own."
    "value-range" "DtypeError" "An integer does not fit into its parameter's type."
    "Give a smaller one, or make the parameter wider."
    "variadic-call" "DifferentiationError" "The function calls another one, which has a variable number of arguments."
    "Pass the numbers in an array, or write one function for each number of arguments. Read files (fscanf) before the call."
    "worker-failed" "DifferentiationError" "ffgrad's own compiler process crashed, was killed, or sent no valid answer; after a crash the message names the function that it was processing."
    "Run `ffgrad doctor`; a larger timeout=SECONDS or more memory may help. Otherwise it is a bug of ffgrad: please report it."
    "worker-timeout" "DifferentiationError" "ffgrad's own compiler process took longer than the option `timeout` allows; the message names the function that it was processing."
    "Raise timeout=SECONDS where the function is large, or split it."
    "wrong-derivative" "DifferentiationError" "A derivative that you gave disagrees with finite differences; the message names it, with both numbers."
    "Correct it: `ffgrad explain custom-derivatives` specifies its arguments and its result."
    "wrong-gradient" "DifferentiationError" "The derivative of a kernel on a GPU disagrees with finite differences or with its other mode; no gradient is returned."
    "The kernel may have a race: try it on CPU tensors, where threads run one after another."
    "x64-disabled" "DtypeError" "A parameter has 64 bits, and JAX has no such types while `jax_enable_x64` is off."
    "Call jax.config.update(\"jax_enable_x64\", True) before JAX is used."
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_sorted_and_each_stands_once() {
        assert!(ALL.windows(2).all(|pair| pair[0].name < pair[1].name));
    }

    /// Every source file that can make a diagnosis.
    fn sources(folder: &std::path::Path, found: &mut Vec<String>) {
        for entry in std::fs::read_dir(folder).expect("a folder").flatten() {
            let path = entry.path();
            if path.is_dir() {
                sources(&path, found);
            } else if path.extension().is_some_and(|e| e == "rs" || e == "py") && !path.ends_with("codes.rs") {
                found.push(std::fs::read_to_string(&path).expect("text"));
            }
        }
    }

    #[test]
    fn every_code_in_the_sources_is_explained() {
        let here = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
        let mut texts = Vec::new();
        let driver = ["src", "llvm/src", "../compile-driver/src", "../compile-driver/capi/src"];
        let front_ends = ["../py/src", "../py/python/ffgrad", "../torch-ext/src", "../tf-op/src", "../xla-ffi/src"];
        for folder in driver.into_iter().chain(front_ends) {
            sources(&here.join(folder), &mut texts);
        }
        let starts = [
            "Diagnosis::new(",
            ".diagnosis(",
            "refusal(",
            ".details(",
            "misuse(",
            "plain(",
            "Failure::with(abi::FFGRAD_ERROR_SIGNATURE, ",
            "(abi::FFGRAD_ERROR_DTYPE, function, ",
            "(abi::FFGRAD_ERROR_SHAPE, function, ",
            "(abi::FFGRAD_ERROR_INTERNAL, ",
            "code = ",
            "code=",
        ];
        for text in &texts {
            for rest in starts.iter().flat_map(|start| text.split(start).skip(1)) {
                let Some(name) = rest.trim_start().strip_prefix('"').and_then(|r| r.split_once('"')) else { continue };
                // Not a code: a path or a name that a function of the same name is given.
                if !name.0.bytes().all(|b| b.is_ascii_lowercase() || b == b'-') {
                    continue;
                }
                let known = ALL.iter().any(|code| code.name == name.0);
                assert!(known, "`{}` is not explained", name.0);
            }
        }
    }

    #[test]
    fn each_says_what_and_what_to_do() {
        for code in ALL {
            assert!(code.meaning.ends_with('.') && code.remedy.ends_with('.'), "{}", code.name);
            assert!(code.class.ends_with("Error"), "{}", code.name);
        }
    }
}
