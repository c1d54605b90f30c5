import { createHash } from "node:crypto"
import { type KeyRing, mac } from "../../core/index.ts"

/** The part of an event that never changes, not even when its details are erased. */
export interface EventContent {
  readonly id: string
  readonly action: string
  readonly workspace_id: string | null
  readonly user_id: string | null
  readonly actor_id: string | null
  readonly subject_id: string | null
  readonly ip: string | null
  /** Null for events written by an older version. */
  readonly details_hash: string | null
  readonly created_at: Date
}

export interface ChainPosition {
  /** The number of the event, from 1 without gaps. */
  readonly ordinal: number
  readonly previous_hash: string
  /** The time of the previous event, which is deleted after its retention. */
  readonly previous_at: Date | null
}

/** The last event of the chain. `ordinal` is 0 if the chain is empty. */
export interface ChainEnd {
  readonly ordinal: number
  readonly hash: string
  readonly at: Date | null
}

/** Converts equal values to equal text, whatever the order of their fields. */
export const canonical = (value: unknown): string => {
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`
  if (value instanceof Date || typeof value !== "object" || value === null) {
    return JSON.stringify(value)
  }
  const fields = Object.entries(value)
    .toSorted(([left], [right]) => (left < right ? -1 : 1))
    .map(([name, field]) => `${JSON.stringify(name)}:${canonical(field)}`)
  return `{${fields.join(",")}}`
}

const sha256 = (value: unknown): string =>
  createHash("sha256").update(canonical(value)).digest("base64url")

const hashedFields = (event: EventContent) => [
  event.id,
  event.action,
  event.workspace_id,
  event.user_id,
  event.actor_id,
  event.subject_id,
  event.ip,
  event.details_hash,
  event.created_at
]

/**
 * Hashes details with a salt. The salt is erased with the details, so that they cannot be guessed
 * from the hash.
 */
export const hashDetails = (salt: string, requestId: string | null, details: unknown): string =>
  sha256([salt, requestId, details])

/**
 * Hashes an event and its position. The hash uses no key, so that a hash noted by an operator stays
 * comparable when `APP_SECRET` changes. The MACs protect it.
 */
export const hashEvent = (event: EventContent, position: ChainPosition): string =>
  sha256([...hashedFields(event), position.ordinal, position.previous_hash, position.previous_at])

/**
 * The content that a MAC covers. The kind comes first, so that a MAC of one kind is never valid for
 * another.
 */
export type Attested = readonly [kind: "written" | "linked" | "end", ...values: Array<unknown>]

/** Returns the content for the MAC of an event that is not linked yet. */
export const writtenEvent = (event: EventContent): Attested => ["written", ...hashedFields(event)]

/** Returns the content for the MAC of a linked event. This MAC replaces the first one. */
export const linkedEvent = (ordinal: number, hash: string): Attested => ["linked", ordinal, hash]

export const endOfChain = ({ at, hash, ordinal }: ChainEnd): Attested => ["end", ordinal, hash, at]

/** Creates a MAC with the current secret, as `<key id>.<mac>`. */
export const attest = ([key]: KeyRing, attested: Attested): string =>
  `${key.id}.${mac(key, canonical(attested))}`

/** Verifies a MAC. The result is `unknown` if there is no MAC or its secret is not configured. */
export const checkMac = (
  ring: KeyRing,
  attested: Attested,
  signed: string | null
): "valid" | "wrong" | "unknown" => {
  const key = ring.find(({ id }) => signed?.startsWith(`${id}.`))
  if (key === undefined) return "unknown"
  return attest([key], attested) === signed ? "valid" : "wrong"
}
