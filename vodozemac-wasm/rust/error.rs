//! What can go wrong, as a number. `src/error.ts` gives each number its name.

use vodozemac::{
    DecodeError, DehydratedDeviceError, KeyError, LibolmPickleError, SignatureError, ecies, hpke, megolm, olm,
    pk_encryption, sas,
};

/// A failure. The discriminant is the status that crosses the boundary.
#[derive(Clone, Copy)]
#[repr(i32)]
pub enum Code {
    Malformed = -1,
    UnsupportedVersion = -2,
    BadKey = -3,
    NonContributoryKey = -4,
    BadSignature = -5,
    BadMac = -6,
    BadPadding = -7,
    UnknownIndex = -8,
    TooLongGap = -9,
    MissingMessageKey = -10,
    UnknownOneTimeKey = -11,
    IdentityKeyMismatch = -12,
    DecryptionFailed = -13,
    BadState = -14,
    BadPickle = -15,
    NotConvertible = -16,
    OutOfRange = -17,
    Exhausted = -18,
    BadHandle = -19,
}

/// The result of an operation: a status of zero or more, or a failure.
pub type Outcome = Result<i32, Code>;

impl From<KeyError> for Code {
    fn from(error: KeyError) -> Self {
        match error {
            KeyError::NonContributoryKey => Self::NonContributoryKey,
            _ => Self::BadKey,
        }
    }
}

impl From<SignatureError> for Code {
    fn from(_: SignatureError) -> Self {
        Self::BadSignature
    }
}

impl From<DecodeError> for Code {
    fn from(error: DecodeError) -> Self {
        match error {
            DecodeError::InvalidVersion(..) => Self::UnsupportedVersion,
            DecodeError::InvalidKey(error) => error.into(),
            DecodeError::Signature(error) => error.into(),
            _ => Self::Malformed,
        }
    }
}

impl From<olm::DecryptionError> for Code {
    fn from(error: olm::DecryptionError) -> Self {
        use olm::DecryptionError as E;
        match error {
            E::InvalidMAC(_) => Self::BadMac,
            E::InvalidMACLength(..) => Self::UnsupportedVersion,
            E::InvalidPadding(_) => Self::BadPadding,
            E::NonContributoryKey => Self::NonContributoryKey,
            E::MissingMessageKey(_) => Self::MissingMessageKey,
            E::TooBigMessageGap(..) => Self::TooLongGap,
        }
    }
}

impl From<olm::EncryptionError> for Code {
    fn from(error: olm::EncryptionError) -> Self {
        match error {
            olm::EncryptionError::NonContributoryKey => Self::NonContributoryKey,
        }
    }
}

impl From<olm::SessionCreationError> for Code {
    fn from(error: olm::SessionCreationError) -> Self {
        use olm::SessionCreationError as E;
        match error {
            E::MissingOneTimeKey(_) => Self::UnknownOneTimeKey,
            E::MismatchedIdentityKey(..) => Self::IdentityKeyMismatch,
            E::MismatchedSessionConfig { .. } => Self::UnsupportedVersion,
            E::Decryption(error) => error.into(),
            E::NonContributoryKey => Self::NonContributoryKey,
        }
    }
}

impl From<megolm::DecryptionError> for Code {
    fn from(error: megolm::DecryptionError) -> Self {
        use megolm::DecryptionError as E;
        match error {
            E::Signature(_) => Self::BadSignature,
            E::InvalidMAC(_) => Self::BadMac,
            E::InvalidMACLength(..) => Self::UnsupportedVersion,
            E::InvalidPadding(_) => Self::BadPadding,
            E::UnknownMessageIndex(..) => Self::UnknownIndex,
        }
    }
}

impl From<megolm::SessionKeyDecodeError> for Code {
    fn from(error: megolm::SessionKeyDecodeError) -> Self {
        use megolm::SessionKeyDecodeError as E;
        match error {
            E::Version(..) => Self::UnsupportedVersion,
            E::Read(_) | E::Base64(_) => Self::Malformed,
            E::Signature(_) => Self::BadSignature,
            E::PublicKey(error) => error.into(),
        }
    }
}

impl From<sas::SasError> for Code {
    fn from(_: sas::SasError) -> Self {
        Self::BadMac
    }
}

impl From<pk_encryption::Error> for Code {
    fn from(error: pk_encryption::Error) -> Self {
        use pk_encryption::Error as E;
        match error {
            E::NonContributoryKey => Self::NonContributoryKey,
            E::InvalidPadding(_) => Self::BadPadding,
            E::Mac(_) => Self::BadMac,
        }
    }
}

impl From<ecies::Error> for Code {
    fn from(error: ecies::Error) -> Self {
        match error {
            ecies::Error::NonContributoryKey => Self::NonContributoryKey,
            ecies::Error::Decryption => Self::DecryptionFailed,
        }
    }
}

impl From<hpke::Error> for Code {
    fn from(error: hpke::Error) -> Self {
        match error {
            hpke::Error::Decryption => Self::DecryptionFailed,
            hpke::Error::Encapsulation(_) => Self::NonContributoryKey,
        }
    }
}

impl From<hpke::MessageDecodeError> for Code {
    fn from(_: hpke::MessageDecodeError) -> Self {
        Self::Malformed
    }
}

impl From<LibolmPickleError> for Code {
    fn from(error: LibolmPickleError) -> Self {
        match error {
            LibolmPickleError::Version(..) => Self::UnsupportedVersion,
            _ => Self::BadPickle,
        }
    }
}

impl From<DehydratedDeviceError> for Code {
    fn from(error: DehydratedDeviceError) -> Self {
        use DehydratedDeviceError as E;
        match error {
            E::Version(..) => Self::UnsupportedVersion,
            E::Decryption(_) => Self::DecryptionFailed,
            E::InvalidAccount => Self::NotConvertible,
            E::LibolmPickle(error) => error.into(),
            E::MissingVersion | E::InvalidNonce | E::Base64(_) => Self::BadPickle,
        }
    }
}
