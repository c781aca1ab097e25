//! What HDF5 tools see is what the index says: every dataset, its shape and every byte, through the C library.

mod common;

use std::collections::{BTreeMap, HashMap};
use std::ffi::CString;

use ckpt::Checkpoint;
use ckpt::snapshot::SnapshotBuilder;
use ckpt::store::{Mode, Node, NodeKind, Restored, Store};
use common::{PLAN, meta};
use hdf5_metno_sys::{h5a, h5d, h5f, h5i::hid_t, h5l, h5o, h5s, h5t};

#[derive(Checkpoint, Clone)]
enum Kind {
    Red,
    Blue(f32),
}

#[derive(Checkpoint, Clone)]
struct Body {
    pos: [[f64; 3]; 2],
    kind: Kind,
    name: String,
    tags: Vec<u16>,
    big: u128,
    signed: i128,
    maybe: Option<bool>,
}

fn body(k: u32) -> Body {
    Body {
        pos: [[f64::from(k); 3], [0.5; 3]],
        kind: if k.is_multiple_of(2) {
            Kind::Red
        } else {
            Kind::Blue(k as f32)
        },
        name: format!("body {k}"),
        tags: (0..k as u16).collect(),
        big: u128::MAX - u128::from(k),
        signed: i128::MIN,
        maybe: (k > 1).then_some(true),
    }
}

struct File {
    id: hid_t,
}

impl File {
    fn open(path: &std::path::Path) -> File {
        let _guard = hdf5_metno_sys::LOCK.lock();
        let name = CString::new(path.to_str().unwrap()).unwrap();
        // SAFETY: the lock is held and the name outlives the call; so for all calls below.
        let id = unsafe { h5f::H5Fopen(name.as_ptr(), h5f::H5F_ACC_RDONLY, 0) };
        assert!(id >= 0);
        File { id }
    }

    /// Shape, bytes in the file's own type, and the class of that type.
    fn dataset(&self, path: &str) -> (Vec<u64>, Vec<u8>, h5t::H5T_class_t) {
        let _guard = hdf5_metno_sys::LOCK.lock();
        let name = CString::new(path).unwrap();
        unsafe {
            let dataset = h5d::H5Dopen2(self.id, name.as_ptr(), 0);
            assert!(dataset >= 0, "{path}");
            let (space, of) = (h5d::H5Dget_space(dataset), h5d::H5Dget_type(dataset));
            let mut shape = vec![0; h5s::H5Sget_simple_extent_ndims(space) as usize];
            h5s::H5Sget_simple_extent_dims(space, shape.as_mut_ptr(), std::ptr::null_mut());
            let count = h5s::H5Sget_simple_extent_npoints(space) as usize;
            let null = h5s::H5Sget_simple_extent_type(space) == h5s::H5S_class_t::H5S_NULL;
            let mut bytes = vec![0; if null { 0 } else { count * h5t::H5Tget_size(of) }];
            if !bytes.is_empty() {
                assert!(
                    h5d::H5Dread(dataset, of, 0, 0, 0, bytes.as_mut_ptr().cast()) >= 0,
                    "{path}"
                );
            }
            (shape, bytes, h5t::H5Tget_class(of))
        }
    }

    fn text_attribute(&self, path: &str, name: &str) -> String {
        let _guard = hdf5_metno_sys::LOCK.lock();
        let (path, c_name) = (CString::new(path).unwrap(), CString::new(name).unwrap());
        unsafe {
            let object = h5o::H5Oopen(self.id, path.as_ptr(), 0);
            let attribute = h5a::H5Aopen(object, c_name.as_ptr(), 0);
            assert!(attribute >= 0, "{path:?} {name}");
            let of = h5a::H5Aget_type(attribute);
            let mut bytes = vec![0_u8; h5t::H5Tget_size(of)];
            assert!(h5a::H5Aread(attribute, of, bytes.as_mut_ptr().cast()) >= 0);
            String::from_utf8(bytes).unwrap()
        }
    }
}

/// Compares every dataset below `node`; the number of them.
fn compare(file: &File, restored: &Restored, node: &Node) -> usize {
    if let NodeKind::Dataset { shape, elements, .. } = &node.kind {
        let (found_shape, found, _) = file.dataset(&node.path);
        assert_eq!(
            found,
            restored.bytes(node, 0, *elements).unwrap(),
            "{}",
            node.path
        );
        assert_eq!(found_shape, *shape, "{}", node.path);
        let checksum = file.text_attribute(&node.path, "checksum");
        assert_eq!(
            Some(checksum),
            node.attribute("checksum").map(ToString::to_string)
        );
        return 1;
    }
    node.children()
        .iter()
        .map(|child| compare(file, restored, child))
        .sum()
}

#[test]
fn the_c_library_reads_every_value() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = Store::open(folder.path(), Mode::ReadWrite).unwrap();
    let shared = std::sync::Arc::new(vec![1_u8, 2, 3]);
    let mut builder = SnapshotBuilder::new();
    let outer = builder.frame(&PLAN, 2);
    let inner = builder.frame(&PLAN, 1);
    builder.value(outer, "bodies", 1, None, &(0..5).map(body).collect::<Vec<_>>());
    builder.value(outer, "body", 1, None, &body(3));
    builder.value(
        outer,
        "empty",
        1,
        None,
        &(Vec::<f64>::new(), String::new(), Vec::<Body>::new(), [(); 0]),
    );
    builder.value(
        outer,
        "map",
        1,
        None,
        &HashMap::from([("a".to_owned(), 'x'), ("b".to_owned(), 'y')]),
    );
    builder.value(
        outer,
        "nested",
        1,
        None,
        &vec![BTreeMap::from([(1_u8, vec![(); 2])]), BTreeMap::new()],
    );
    builder.value(outer, "wide", 1, None, &vec![[[1_i16; 2]; 3]; 4]);
    builder.value(outer, "shared", 1, None, &(shared.clone(), shared));
    builder.value(outer, "a/b%.", 1, None, &1.5_f32);
    builder.link(outer, "lent", 2, None, inner, "grid");
    builder.value(inner, "grid", 3, Some(0), &vec![[0.25_f64; 100]; 200]);
    let id = store.commit(&builder.finish().unwrap(), &meta()).unwrap();
    let restored = store.load(id).unwrap();
    let file = File::open(restored.path());

    let tree = restored.tree();
    let frames = tree.find("frames").unwrap();
    let plain = |node: &Node| !node.name.contains('/');
    let outer_nodes: Vec<&Node> = frames.children()[0]
        .children()
        .iter()
        .filter(|node| plain(node))
        .collect();
    let count: usize = outer_nodes
        .iter()
        .map(|node| compare(&file, &restored, node))
        .sum();
    assert!(count > 30, "{count}");
    assert_eq!(compare(&file, &restored, &frames.children()[1]), 1);
    assert_eq!(compare(&file, &restored, tree.find("shared").unwrap()), 3);
    assert_eq!(file.dataset("/frames/0/a%2Fb%25.").1, 1.5_f32.to_le_bytes());
    // A link is the same dataset, at its own place.
    assert_eq!(file.dataset("/frames/0/lent"), file.dataset("/frames/1/grid"));
    assert_eq!(file.dataset("/frames/1/grid").0, [200, 100]);
    assert_eq!(file.dataset("/frames/0/bodies/pos").0, [5, 2, 3]);
    assert_eq!(
        file.dataset("/frames/0/bodies/kind/variant").2,
        h5t::H5T_class_t::H5T_ENUM
    );
    assert_eq!(
        file.dataset("/frames/0/bodies/name/text").2,
        h5t::H5T_class_t::H5T_STRING
    );
    assert_eq!(
        file.dataset("/frames/0/bodies/big").2,
        h5t::H5T_class_t::H5T_COMPOUND
    );

    assert_eq!(file.text_attribute("/", "format"), "ckpt");
    assert_eq!(file.text_attribute("/", "time"), "2023-11-14T22:13:20Z");
    assert_eq!(file.text_attribute("/", "rustc"), "1.95");
    assert_eq!(file.text_attribute("/frames/0", "function"), "advance");
    assert_eq!(file.text_attribute("/frames/0", "callee"), "inner");
    assert_eq!(
        file.text_attribute("/frames/1/grid", "rust_type"),
        "alloc::vec::Vec<[f64; 100]>"
    );
    assert_eq!(file.text_attribute("/frames/0/bodies", "kind"), "struct");
    // Where the walk over frames ends: nothing is there twice or by accident.
    let name = CString::new("/frames/2").unwrap();
    let _guard = hdf5_metno_sys::LOCK.lock();
    assert_eq!(unsafe { h5l::H5Lexists(file.id, name.as_ptr(), 0) }, 0);
}

#[test]
fn tables_of_single_values_are_readable() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = Store::open(folder.path(), Mode::ReadWrite).unwrap();
    let mut builder = SnapshotBuilder::new();
    let frame = builder.frame(&PLAN, 1);
    for k in 0..300_u32 {
        builder.value(frame, format!("v{k:03}"), k, None, &f64::from(k));
    }
    let id = store.commit(&builder.finish().unwrap(), &meta()).unwrap();
    let file = File::open(&store.path(id));
    let (shape, bytes, class) = file.dataset("/frames/0/#scalars/f64");
    assert_eq!((shape, class), (vec![300], h5t::H5T_class_t::H5T_COMPOUND));
    let row = &bytes[24 * 7..24 * 8];
    assert_eq!(
        (&row[..4], &row[4..12]),
        (b"v007".as_slice(), 7.0_f64.to_le_bytes().as_slice())
    );
    assert_eq!(
        (&row[12..16], &row[16..]),
        ([7, 0, 0, 0].as_slice(), [0xff; 8].as_slice())
    );
}
