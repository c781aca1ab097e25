//! What is taken of a program's lists while it waits, and where it goes.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard};

use super::beside::Readers;
use super::{Body, ListOf, Memory, Owner, Read, Reference, Sink, Taken, Unread, block_size};
use crate::base::copying::IN_BLOCKS;
use crate::base::forked::{Copier, Order, Shared};
use crate::base::lock::locked;
use crate::base::pages::Pages;
use crate::base::room;
use crate::value::{Column, DType};

/// A range of memory.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Region {
    first: usize,
    end: usize,
}

impl Region {
    /// That of a value, without what it points to.
    pub fn of<T: ?Sized>(value: &T) -> Region {
        let first = std::ptr::from_ref(value).addr();
        Region {
            first,
            end: first + size_of_val(value),
        }
    }

    pub fn first(self) -> usize {
        self.first
    }

    pub fn bytes(self) -> usize {
        self.end - self.first
    }

    fn holds(self, other: Region) -> bool {
        self.first <= other.first && other.end <= self.end && other.first < other.end
    }
}

/// A variable that has been saved, for who wants to know where it is.
#[derive(Debug, Clone)]
pub(crate) struct Seen {
    /// The index of its frame.
    pub frame: usize,
    pub key: Cow<'static, str>,
    /// Who it is, if nothing that the program does between two visits of its site changes it.
    pub owner: Option<Owner>,
    /// Whether nothing that the program does between two visits of its site looks at it.
    pub is_unread: bool,
    /// Where numbers of it are in the program's memory.
    pub places: Vec<Region>,
    /// Where it stands itself.
    region: Region,
}

impl Seen {
    /// Whether its numbers are all in memory that it owns. Of what stands in the variable itself a copy may have been looked at.
    pub fn is_behind_it(&self) -> bool {
        !self.places.is_empty() && !self.places.iter().any(|place| self.region.holds(*place))
    }
}

/// Which lists are taken in blocks, and what they are compared with.
#[derive(Default)]
pub(crate) struct Capture {
    /// By the number of the list.
    pub references: Vec<Option<Arc<Reference>>>,
    next: usize,
    /// Where those go that need not be copied.
    pub sink: Option<Arc<Mutex<dyn Sink>>>,
    /// Reports what has been written to.
    pages: Option<Arc<Mutex<Pages>>>,
    /// The copies that another process is to make, if one may.
    pub order: Option<Order>,
    /// Reads lists that are not in memory.
    readers: Readers,
    /// The memory of the program's that is being gone through. A list in it stays where it is until the snapshot is
    /// finished; one that is elsewhere may have been made to be saved.
    region: Region,
    /// Whose lists come now, if nothing that the program does between two visits of their site changes them.
    owner: Option<ListOf>,
    /// Nobody has looked at them either.
    is_unread: bool,
    /// The variables so far, where somebody wants to know.
    pub seen: Option<Vec<Seen>>,
}

impl Capture {
    /// One that notes which variables there are, and where.
    pub fn noting() -> Capture {
        Capture {
            seen: Some(Vec::new()),
            ..Capture::default()
        }
    }

    /// From here on variable `key` of frame `frame` is saved.
    pub fn begins(&mut self, frame: usize, key: Cow<'static, str>) {
        let (owner, region) = (self.owner.map(|list| list.owner), self.region);
        let is_unread = std::mem::take(&mut self.is_unread);
        if let Some(seen) = &mut self.seen {
            seen.push(Seen {
                frame,
                key,
                owner,
                is_unread,
                places: Vec::new(),
                region,
            });
        }
    }

    /// It has been saved as this column.
    pub fn ends(&mut self, column: &Column) {
        let Some(last) = self.seen.as_mut().and_then(|seen| seen.last_mut()) else {
            return;
        };
        if let Column::Data(data) = column
            && data.single
            && data.dtype.is_number()
            && data.bytes.len() == last.region.bytes()
        {
            last.places.push(last.region);
        }
    }

    /// Numbers that are saved now.
    pub fn note(&mut self, bytes: &[u8]) {
        let region = Region::of(bytes);
        if let Some(last) = self.seen.as_mut().and_then(|seen| seen.last_mut())
            && self.region.holds(region)
        {
            last.places.push(region);
        }
    }

    pub fn new(references: Vec<Option<Arc<Reference>>>) -> Capture {
        Capture {
            references,
            ..Capture::default()
        }
    }

    /// As it is, with the kernel's help to find what has changed.
    pub fn watched_by(mut self, pages: Option<&Arc<Mutex<Pages>>>) -> Capture {
        self.pages = pages.cloned();
        if let Some(mut pages) = self.pages() {
            pages.give_up();
        }
        self
    }

    /// The lists that come are those of a variable that does not change between two visits of a site; until `None` is given.
    pub fn mark_clean(&mut self, owner: Option<Owner>) {
        self.owner = owner.map(|owner| ListOf { owner, number: 0 });
    }

    /// Nothing looks at the variable that comes next either.
    pub fn mark_unread(&mut self) {
        self.is_unread = true;
    }

    /// From here on `region` is visited. Returns what was before.
    pub fn enter(&mut self, region: Region) -> Region {
        std::mem::replace(&mut self.region, region)
    }

    /// What the value that stands in `owner` owns: the program's if `owner` is.
    pub fn owned_by(&self, owner: Region, owned: Region) -> Region {
        match self.region.holds(owner) {
            true => owned,
            false => Region::default(),
        }
    }

    fn next_of_owner(&mut self) -> Option<ListOf> {
        let list = self.owner.as_mut()?;
        list.number += 1;
        Some(*list)
    }

    fn pages(&self) -> Option<MutexGuard<'_, Pages>> {
        let pages = self.pages.as_ref()?;
        Some(locked(pages))
    }

    /// Waits for the lists that are read beside, and names those that could not be.
    pub fn wait_for_lists(&mut self) -> Vec<Unread> {
        self.readers.wait()
    }

    /// All lists have been taken. Returns the process that copies those that have not been copied yet.
    pub fn finish(&mut self) -> Option<Copier> {
        if let Some(mut pages) = self.pages() {
            pages.begin();
        }
        // SAFETY: `take` has added lists only that lie in the program's variables or in what these own, and the program
        // stands still: saving a value leaves it as it is. The memory for the copies belongs to bodies of the snapshot
        // that is being finished, or waits to be used again.
        self.order.take().and_then(|order| unsafe { order.begin() })
    }

    /// Takes a list of numbers that was read into memory of its own, for which no other use is known; gives that back where the
    /// list is to be taken as others are.
    pub fn take_read(&mut self, dtype: &DType, bytes: Vec<u8>) -> Result<Body, Vec<u8>> {
        let size = block_size(dtype.size()).filter(|_| bytes.len() >= IN_BLOCKS && self.sink.is_none());
        let Some(size) = size else {
            return Err(bytes);
        };
        let reference = self.references.get(self.next).cloned().flatten();
        let reference = reference
            .filter(|known| known.pays && (&known.dtype, known.row, known.bytes) == (dtype, 1, bytes.len()));
        let size = reference.as_ref().map_or(size, |known| known.block);
        let blocks = bytes.len().div_ceil(size);
        if !room::is_there(blocks * size_of::<Taken>()) {
            return Err(bytes);
        }
        let owner = self.next_of_owner();
        let mut body = Body::of(bytes.len(), (1, size), self.next, reference, owner);
        self.next += 1;
        body.keep(bytes);
        Ok(body)
    }

    /// Takes a list that is not in memory, and has a thread read it that does so beside what follows; gives `read` back where it is to be
    /// read at once.
    ///
    /// # Safety
    /// Where `read` succeeds, it has written every byte.
    pub unsafe fn take_beside(&mut self, dtype: &DType, length: usize, read: Read) -> Result<Body, Read> {
        let size = block_size(dtype.size()).filter(|_| length >= IN_BLOCKS && self.sink.is_none());
        let blocks = |size| length.div_ceil(size) * size_of::<Taken>();
        let Some(size) = size.filter(|size| room::is_there(blocks(*size))) else {
            return Err(read);
        };
        // SAFETY: the caller's promise.
        let memory = unsafe { self.readers.begin(length, read) }?;
        let owner = self.next_of_owner();
        let mut body = Body::of(length, (1, size), self.next, None, owner);
        self.next += 1;
        body.memory = Memory::Read(memory);
        body.blocks.fill(Taken::Copied(None));
        Ok(body)
    }

    /// Takes a list, rows of `row` elements each; `None` if it is to be copied as it is, as far as there is memory for that. `is_plain`: its items are elements,
    /// or arrays of them.
    pub fn take(&mut self, dtype: &DType, row: usize, is_plain: bool, bytes: &[u8]) -> Option<Body> {
        if bytes.len() < IN_BLOCKS {
            return None;
        }
        let size = block_size(row.checked_mul(dtype.size())?)?;
        let number = self.next;
        self.next += 1;
        let owner = self.next_of_owner();
        let reference = self.references.get(number).cloned().flatten();
        let reference = reference.filter(|known| {
            known.pays && (&known.dtype, known.row, known.bytes) == (dtype, row, bytes.len())
        });
        let size = reference.as_ref().map_or(size, |known| known.block);
        if !room::is_there(bytes.len().div_ceil(size) * size_of::<Taken>()) {
            return None;
        }
        let sink = self.sink.as_ref().filter(|_| is_plain && reference.is_none());
        let sink = sink.map(|sink| locked(sink));
        if let Some(written) = sink.and_then(|mut sink| sink.write(dtype, row, bytes)) {
            return Some(Body {
                memory: Memory::Own(Vec::new()),
                length: bytes.len(),
                block: written.block,
                blocks: Vec::new(),
                number,
                reference: None,
                row,
                written: Some(written),
                watch: None,
                owner,
            });
        }
        let mut body = Body::of(bytes.len(), (row, size), number, reference, owner);
        if owner.is_some() && body.is_as_before(bytes) {
            return Some(body);
        }
        if let Some(memory) = self.left_for_later(bytes) {
            body.memory = Memory::Shared(memory);
            body.blocks.fill(Taken::Copied(None));
            return Some(body);
        }
        let mut pages = self.pages();
        let watch = body.reference.as_ref().and_then(|known| known.watch);
        let untouched = pages.as_ref().and_then(|pages| pages.untouched(watch, bytes));
        if !body.fill(bytes, untouched.as_ref()) {
            return None;
        }
        if let Some(pages) = &mut pages
            && body.is_worth_watching(pages.watches(bytes))
        {
            body.watch = Some(pages.watch(bytes, untouched.as_ref()));
        }
        Some(body)
    }

    /// Takes a list of numbers that is not in memory, if the checkpoint before has it as it is: only a part of it is read then.
    /// Otherwise it is to be read, and taken as `owner`'s.
    pub fn take_unread(
        &mut self,
        dtype: &DType,
        length: usize,
        owner: Owner,
        read: &mut dyn FnMut(Range<usize>) -> Option<Vec<u8>>,
    ) -> Option<Body> {
        let owner = Some(ListOf { owner, number: 1 });
        let reference = self.references.get(self.next).cloned().flatten()?;
        let is_that = (&reference.dtype, reference.row, reference.bytes) == (dtype, 1, length);
        let blocks = length.div_ceil(reference.block);
        if !is_that || reference.owner != owner || !room::is_there(blocks * size_of::<Taken>()) {
            return None;
        }
        let block = reference.block;
        let mut body = Body::of(length, (1, block), self.next, Some(reference), owner);
        let is_as_before = body.is_as_before_unread(read);
        is_as_before.then(|| {
            self.next += 1;
            body
        })
    }

    /// Memory for a list that another process is to copy.
    fn left_for_later(&mut self, bytes: &[u8]) -> Option<Shared> {
        let order = self
            .order
            .as_mut()
            .filter(|_| self.region.holds(Region::of(bytes)))?;
        order.add(bytes)
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;
    use crate::value::{Checkpoint, Encoder, Objects};

    #[test]
    fn what_was_read_elsewhere_is_kept_where_it_is() {
        let bytes: Vec<u8> = (0..IN_BLOCKS + 7).map(|at| at as u8 | 1).collect();
        let (at, copy) = (bytes.as_ptr(), bytes.clone());
        let mut capture = Capture::default();
        let body = capture.take_read(&DType::U64, bytes).unwrap();
        let whole = body.whole().unwrap();
        assert_eq!((whole.as_ptr(), whole), (at, &copy[..]));
        assert!(
            capture.take_read(&DType::U64, vec![1; 64]).is_err(),
            "small ones are taken as they are"
        );
    }

    #[test]
    fn another_process_copies_what_is_the_programs() {
        const COUNT: usize = IN_BLOCKS / 8;
        let mut field = (0.5, Some(vec![3.0_f64; COUNT]));
        let mut capture = Capture {
            order: Some(Order::default()),
            ..Capture::default()
        };
        capture.enter(Region::of(&field));
        let mut objects = Objects::default();
        objects.capture = Some(capture);
        let mut saved = |value: &dyn Fn(&mut Encoder<'_>)| {
            let mut column = Column::Empty;
            value(&mut Encoder::new(&mut column, false, &mut objects));
            column
        };
        // One list is the program's, the other was made to be saved.
        let columns = [
            saved(&|to| field.1.save(to)),
            saved(&|to| vec![field.0; COUNT].save(to)),
        ];
        let mut bodies = Vec::new();
        for column in &columns {
            bodies_in(column, &mut bodies);
        }
        let copier = objects.capture.as_mut().and_then(Capture::finish);
        if let Some(list) = &mut field.1 {
            list.fill(-1.0);
        }
        copier.unwrap().wait().unwrap();
        let is_shared = |body: &Arc<Body>| matches!(body.memory, Memory::Shared(_));
        assert_eq!(bodies.iter().map(is_shared).collect::<Vec<_>>(), [true, false]);
        for (body, expected) in bodies.iter().zip([3.0_f64, 0.5]) {
            let bytes = body.whole().unwrap();
            assert!(bytes.len() == IN_BLOCKS && bytes.chunks(8).all(|item| item == expected.to_le_bytes()));
        }
    }

    fn bodies_in(column: &Column, bodies: &mut Vec<Arc<Body>>) {
        match column {
            Column::Data(data) => bodies.extend(data.bytes.body().cloned()),
            Column::Group(group) => {
                for (_, child) in &group.children {
                    bodies_in(child, bodies);
                }
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod unread {
    use super::*;
    use crate::base::checksum::xxh3;

    #[test]
    fn a_list_that_nothing_has_written_to_is_not_read_but_for_one_block_at_times() {
        let bytes: Vec<u8> = (0..3 * IN_BLOCKS).map(|at| (at / 1000) as u8).collect();
        let block = block_size(4).expect("rows that small have blocks");
        let owner = |writes| Owner {
            activation: 1 << 63,
            site: writes,
            key: "array",
            lasts: false,
        };
        let reference = Arc::new(Reference {
            dtype: DType::U32,
            row: 1,
            bytes: bytes.len(),
            block,
            checksums: bytes.chunks(block).map(xxh3).collect(),
            pays: false,
            watch: None,
            owner: Some(ListOf {
                owner: owner(4),
                number: 1,
            }),
        });
        let taken = |capture: &mut Capture, writes, bytes: &[u8]| {
            let mut read = 0;
            let mut part = |part: Range<usize>| {
                read += part.len();
                bytes.get(part).map(<[u8]>::to_vec)
            };
            let body = capture.take_unread(&DType::U32, bytes.len(), owner(writes), &mut part);
            (body.map(|body| body.blocks().to_vec()), read)
        };
        let capture = || Capture::new(vec![Some(Arc::clone(&reference))]);
        let times = 64;
        let mut all = 0;
        for _ in 0..times {
            let (body, read) = taken(&mut capture(), 4, &bytes);
            let body = body.expect("it is as it was");
            assert!(body.iter().all(|taken| *taken == Taken::Same), "{body:?}");
            assert!(read <= block, "{read}");
            all += read;
        }
        assert!(0 < all && all <= times / 2 * block, "{all}");
        assert_eq!(taken(&mut capture(), 5, &bytes), (None, 0), "it was written");
        let other: Vec<u8> = bytes.iter().map(|byte| byte ^ 1).collect();
        let is_found = (0..times).any(|_| taken(&mut capture(), 4, &other).0.is_none());
        assert!(is_found, "it was written by somebody else");
        assert_eq!(taken(&mut Capture::new(Vec::new()), 4, &bytes), (None, 0));
    }
}
