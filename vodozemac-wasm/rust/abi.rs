//! The boundary: buffers, handles and the frame around every operation.

use std::cell::RefCell;

use vodozemac::{
    Curve25519PublicKey, Curve25519SecretKey, Ed25519PublicKey, Ed25519SecretKey, Ed25519Signature,
    ecies::{Ecies, EstablishedEcies},
    hpke::{EstablishedHpkeChannel, HpkeRecipientChannel, UnidirectionalRecipientChannel, UnidirectionalSenderChannel},
    megolm::GroupSession,
    olm::{Account, Session},
    pk_encryption::PkDecryption,
    sas::{EstablishedSas, Sas},
};

use crate::{
    error::{Code, Outcome},
    inbound::Inbound,
    random,
};

/// Everything that stays behind a handle.
pub enum Object {
    Account(Box<Account>),
    Session(Box<Session>),
    Outbound(Box<GroupSession>),
    Inbound(Box<Inbound>),
    SigningKey(Box<Ed25519SecretKey>),
    AgreementKey(Box<Curve25519SecretKey>),
    Sas(Box<Sas>),
    EstablishedSas(Box<EstablishedSas>),
    PkDecryption(Box<PkDecryption>),
    Ecies(Box<Ecies>),
    EciesChannel(Box<EstablishedEcies>),
    HpkeRecipient(Box<HpkeRecipientChannel>),
    HpkeSenderHalf(Box<UnidirectionalSenderChannel>),
    HpkeRecipientHalf(Box<UnidirectionalRecipientChannel>),
    HpkeChannel(Box<EstablishedHpkeChannel>),
}

/// A type that an [`Object`] can hold.
pub trait Held: Sized {
    fn wrap(self) -> Object;
    fn of(object: &mut Object) -> Option<&mut Self>;
    fn unwrap(object: Object) -> Option<Self>;
}

macro_rules! held {
    ($($type:ty => $variant:ident),* $(,)?) => {$(
        impl Held for $type {
            fn wrap(self) -> Object {
                Object::$variant(Box::new(self))
            }
            fn of(object: &mut Object) -> Option<&mut Self> {
                if let Object::$variant(inner) = object { Some(inner) } else { None }
            }
            fn unwrap(object: Object) -> Option<Self> {
                if let Object::$variant(inner) = object { Some(*inner) } else { None }
            }
        }
    )*};
}

held! {
    Account => Account,
    Session => Session,
    GroupSession => Outbound,
    Inbound => Inbound,
    Ed25519SecretKey => SigningKey,
    Curve25519SecretKey => AgreementKey,
    Sas => Sas,
    EstablishedSas => EstablishedSas,
    PkDecryption => PkDecryption,
    Ecies => Ecies,
    EstablishedEcies => EciesChannel,
    HpkeRecipientChannel => HpkeRecipient,
    UnidirectionalSenderChannel => HpkeSenderHalf,
    UnidirectionalRecipientChannel => HpkeRecipientHalf,
    EstablishedHpkeChannel => HpkeChannel,
}

/// The objects, by handle. Handles start at 1 and are used again after `free`.
pub struct Objects {
    slots: Vec<Option<Object>>,
    free: Vec<u32>,
}

impl Objects {
    pub fn add(&mut self, object: impl Held) -> Outcome {
        let object = object.wrap();
        let handle = match self.free.pop() {
            Some(handle) => {
                self.slots[handle as usize - 1] = Some(object);
                handle
            }
            None => {
                self.slots.push(Some(object));
                self.slots.len() as u32
            }
        };
        i32::try_from(handle).map_err(|_| Code::Exhausted)
    }

    pub fn get<T: Held>(&mut self, handle: u32) -> Result<&mut T, Code> {
        let slot = (handle as usize).checked_sub(1).and_then(|index| self.slots.get_mut(index));
        slot.and_then(Option::as_mut).and_then(T::of).ok_or(Code::BadHandle)
    }

    /// Two different objects of one type at once.
    pub fn get_two<T: Held>(&mut self, one: u32, other: u32) -> Result<(&mut T, &mut T), Code> {
        let indices = [one, other].map(|handle| (handle as usize).wrapping_sub(1));
        let [one, other] = self.slots.get_disjoint_mut(indices).map_err(|_| Code::BadHandle)?;
        match (one.as_mut().and_then(T::of), other.as_mut().and_then(T::of)) {
            (Some(one), Some(other)) => Ok((one, other)),
            _ => Err(Code::BadHandle),
        }
    }

    /// Takes the object out; the handle is gone even if what follows fails.
    pub fn take<T: Held>(&mut self, handle: u32) -> Result<T, Code> {
        self.get::<T>(handle)?;
        self.remove(handle).and_then(T::unwrap).ok_or(Code::BadHandle)
    }

    fn remove(&mut self, handle: u32) -> Option<Object> {
        let object = self.slots.get_mut((handle as usize).checked_sub(1)?)?.take()?;
        self.free.push(handle);
        Some(object)
    }
}

/// Reads the input of an operation from front to back.
pub struct Input<'a>(&'a [u8]);

impl<'a> Input<'a> {
    /// Exactly `length` bytes.
    pub fn bytes(&mut self, length: usize) -> Result<&'a [u8], Code> {
        let (head, tail) = self.0.split_at_checked(length).ok_or(Code::Malformed)?;
        self.0 = tail;
        Ok(head)
    }

    /// A fixed number of bytes.
    pub fn array<const N: usize>(&mut self) -> Result<&'a [u8; N], Code> {
        let (head, tail) = self.0.split_first_chunk().ok_or(Code::Malformed)?;
        self.0 = tail;
        Ok(head)
    }

    /// A little-endian number.
    pub fn number(&mut self) -> Result<u32, Code> {
        self.array().map(|bytes| u32::from_le_bytes(*bytes))
    }

    /// Bytes preceded by their length.
    pub fn prefixed(&mut self) -> Result<&'a [u8], Code> {
        let length = self.number()?;
        self.bytes(length as usize)
    }

    /// Everything that is left.
    pub fn rest(&mut self) -> &'a [u8] {
        std::mem::take(&mut self.0)
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn curve25519(&mut self) -> Result<Curve25519PublicKey, Code> {
        Ok(Curve25519PublicKey::from_bytes(*self.array()?))
    }

    pub fn ed25519(&mut self) -> Result<Ed25519PublicKey, Code> {
        Ok(Ed25519PublicKey::from_slice(self.array()?)?)
    }

    pub fn signature(&mut self) -> Result<Ed25519Signature, Code> {
        Ok(Ed25519Signature::from_slice(self.array::<64>()?)?)
    }
}

/// The answer of an operation.
pub struct Output(Vec<u8>);

impl Output {
    pub fn put(&mut self, bytes: &[u8]) {
        self.0.extend_from_slice(bytes);
    }

    pub fn put_number(&mut self, number: u32) {
        self.put(&number.to_le_bytes());
    }

    pub fn put_prefixed(&mut self, bytes: &[u8]) {
        self.put_number(bytes.len() as u32);
        self.put(bytes);
    }

    /// Where the answer is `bytes` alone: their buffer becomes the output.
    pub fn replace(&mut self, bytes: Vec<u8>) {
        self.0 = bytes;
    }
}

struct Boundary {
    input: Vec<u8>,
    output: Output,
    objects: Objects,
}

thread_local! {
    static BOUNDARY: RefCell<Boundary> = const {
        RefCell::new(Boundary {
            input: Vec::new(),
            output: Output(Vec::new()),
            objects: Objects { slots: Vec::new(), free: Vec::new() },
        })
    };
}

/// Runs an operation on the first `length` bytes of the input buffer, and wipes them.
pub fn run(length: u32, operation: impl FnOnce(Input, &mut Output, &mut Objects) -> Outcome) -> i32 {
    BOUNDARY.with_borrow_mut(|Boundary { input, output, objects }| {
        output.0.clear();
        let Some(input) = input.get_mut(..length as usize) else {
            return Code::Malformed as i32;
        };
        let outcome = operation(Input(input), output, objects);
        input.fill(0);
        outcome.unwrap_or_else(|code| code as i32)
    })
}

/// Makes the input buffer at least `length` bytes long; answers where it is.
#[unsafe(no_mangle)]
extern "C" fn input_reserve(length: u32) -> *mut u8 {
    BOUNDARY.with_borrow_mut(|Boundary { input, .. }| {
        if input.len() < length as usize {
            // A new buffer: the old one holds nothing worth a copy.
            *input = vec![0; length as usize];
        }
        input.as_mut_ptr()
    })
}

/// Where the answer of the last operation lies, until the next one.
#[unsafe(no_mangle)]
extern "C" fn output_pointer() -> *const u8 {
    BOUNDARY.with_borrow(|Boundary { output, .. }| output.0.as_ptr())
}

/// How long the answer of the last operation is.
#[unsafe(no_mangle)]
extern "C" fn output_length() -> u32 {
    BOUNDARY.with_borrow(|Boundary { output, .. }| output.0.len() as u32)
}

/// Drops an object; the allocator wipes it, and the generator what it was made from.
#[unsafe(no_mangle)]
extern "C" fn object_free(handle: u32) -> i32 {
    random::forget();
    run(0, |_, _, objects| objects.remove(handle).map(|_| 0).ok_or(Code::BadHandle))
}
