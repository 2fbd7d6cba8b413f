//! Tests of the handler with a mock of XLA.

use super::*;
use crate::api::{Api, ApiVersion, Attrs, Buffer, Buffers, ByteSpan, ExtensionBase, Metadata};
use std::cell::RefCell;
use std::ffi::CStr;

thread_local! {
    static REPORTED: RefCell<Vec<(c_int, String)>> = const { RefCell::new(Vec::new()) };
}

unsafe extern "C" fn error_create(args: *mut ErrorCreateArgs) -> *mut api::Error {
    // SAFETY: the handler's arguments.
    let (code, text) = unsafe { ((*args).code, CStr::from_ptr((*args).message).to_string_lossy().into_owned()) };
    REPORTED.with_borrow_mut(|reported| reported.push((code, text)));
    ptr::dangling_mut::<u64>().cast()
}

const VERSION: ApiVersion =
    ApiVersion { struct_size: size_of::<ApiVersion>(), extension_start: ptr::null_mut(), major: 0, minor: 3 };

fn api() -> Api {
    Api {
        struct_size: size_of::<Api>(),
        extension_start: ptr::null_mut(),
        api_version: VERSION,
        internal_api: ptr::null(),
        error_create: Some(error_create),
    }
}

fn buffers(types: &mut [c_int], buffers: &mut [*mut Buffer]) -> Buffers {
    Buffers {
        struct_size: size_of::<Buffers>(),
        extension_start: ptr::null_mut(),
        size: types.len() as i64,
        types: types.as_mut_ptr(),
        buffers: buffers.as_mut_ptr(),
    }
}

/// Calls the handler without arguments and results, with one attribute; returns what it reported to XLA.
fn call(stage: c_int, name: &str, text: &str) -> Option<(c_int, String)> {
    let api = api();
    let mut name = ByteSpan { ptr: name.as_ptr(), len: name.len() };
    let mut value = ByteSpan { ptr: text.as_ptr(), len: text.len() };
    let (mut types, mut names, mut attrs) = ([api::ATTR_STRING], [&raw mut name], [(&raw mut value).cast::<c_void>()]);
    let mut frame = CallFrame {
        struct_size: size_of::<CallFrame>(),
        extension_start: ptr::null_mut(),
        api: &api,
        ctx: ptr::null_mut(),
        stage,
        args: buffers(&mut [], &mut []),
        rets: buffers(&mut [], &mut []),
        attrs: Attrs {
            struct_size: size_of::<Attrs>(),
            extension_start: ptr::null_mut(),
            size: 1,
            types: types.as_mut_ptr(),
            names: names.as_mut_ptr(),
            attrs: attrs.as_mut_ptr(),
        },
    };
    // SAFETY: a whole frame, which lives through the call.
    let error = unsafe { handle(&mut frame) };
    assert_eq!(error.is_null(), REPORTED.with_borrow(Vec::is_empty));
    REPORTED.with_borrow_mut(Vec::pop)
}

#[test]
fn the_metadata_probe_is_answered_with_the_lowest_version_and_nothing_is_run() {
    let mut metadata = Metadata { struct_size: size_of::<Metadata>(), api_version: VERSION, traits: 7 };
    let mut extension = MetadataExtension {
        base: ExtensionBase { struct_size: 0, kind: api::EXTENSION_METADATA, next: ptr::null_mut() },
        metadata: &mut metadata,
    };
    let mut before = ExtensionBase { struct_size: 0, kind: 99, next: (&raw mut extension).cast() };
    let mut frame = CallFrame {
        struct_size: size_of::<CallFrame>(),
        extension_start: &mut before,
        api: ptr::null(),
        ctx: ptr::null_mut(),
        stage: api::STAGE_EXECUTE,
        args: buffers(&mut [], &mut []),
        rets: buffers(&mut [], &mut []),
        attrs: Attrs {
            struct_size: 0,
            extension_start: ptr::null_mut(),
            size: 0,
            types: ptr::null_mut(),
            names: ptr::null_mut(),
            attrs: ptr::null_mut(),
        },
    };
    // SAFETY: a frame with an extension, which both live through the call.
    assert!(unsafe { handle(&mut frame) }.is_null());
    assert_eq!((metadata.api_version.major, metadata.api_version.minor, metadata.traits), (0, 1, 0));
}

#[test]
fn only_the_execute_stage_does_anything() {
    for stage in 0..3 {
        assert_eq!(call(stage, "op", "nonsense"), None);
    }
    // SAFETY: a null frame is compared, not read.
    assert!(unsafe { handle(ptr::null_mut()) }.is_null());
}

#[test]
fn an_unknown_attribute_is_an_error_with_a_text() {
    let (code, text) = call(api::STAGE_EXECUTE, "op", "0123456789abcdefnonsense").unwrap();
    assert_eq!(code, Code::InvalidArgument as c_int);
    assert!(text.contains("not of this version of ffgrad"), "{text}");
    let (_, text) = call(api::STAGE_EXECUTE, "operation", "").unwrap();
    assert!(text.contains("no attribute `op`"), "{text}");
}

#[test]
fn the_drivers_errors_reach_xla_with_their_text() {
    let spec = r#"{\"sources\":[\"/nowhere/a.c\"],\"function\":\"f\",\"key\":\"1\"}"#;
    let op = format!(r#"aaaabbbbccccdddd{{"spec":"{spec}","kind":"primal"}}"#);
    let (code, text) = call(api::STAGE_EXECUTE, "op", &op).unwrap();
    assert_eq!(code, Code::InvalidArgument as c_int);
    assert!(text.contains("there is no file `/nowhere/a.c`"), "{text}");
}

#[test]
fn every_class_of_errors_has_a_code() {
    use compile_driver::Kind;
    assert_eq!(code(Kind::Shape), Code::InvalidArgument);
    assert_eq!(code(Kind::Differentiation), Code::Unimplemented);
    assert_eq!(code(Kind::Memory), Code::ResourceExhausted);
    assert_eq!(code(Kind::Foreign), Code::Unknown);
    assert_eq!(code(Kind::Cache), Code::FailedPrecondition);
}

#[test]
fn the_layouts_are_those_of_the_header() {
    // offsetof() in C, from c_api.h of jaxlib 0.5.0 and 0.10.2 on a 64-bit machine.
    assert_eq!(size_of::<Buffer>(), 48);
    assert_eq!(size_of::<Buffers>(), 40);
    assert_eq!(size_of::<Attrs>(), 48);
    assert_eq!(std::mem::offset_of!(CallFrame, args), 40);
    assert_eq!(std::mem::offset_of!(CallFrame, attrs), 120);
    assert_eq!(std::mem::offset_of!(Api, error_create), 48);
    assert_eq!(std::mem::offset_of!(Metadata, traits), 32);
}
