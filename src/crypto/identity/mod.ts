/**
 * The own user's identity: its private keys, and the signatures that they make.
 *
 * @module
 */

export {
  type DueSignature,
  DueSignatures,
  OwnSignature,
  type SignaturesUpload,
  type SignedName,
  uploadOf,
} from "./due_signatures.ts";
export { IdentitySigning, type SigningOutcome } from "./identity_signing.ts";
export {
  type ComparedSeeds,
  type IdentitySeeds,
  type NewIdentity,
  SEED_NAMES,
  SEED_SECRETS,
  seedNameOf,
} from "./identity_seeds.ts";
export { type KnownIdentity, type NewIdentityInput, type OfferOutcome, OwnIdentity } from "./own_identity.ts";
