import { createHash } from "node:crypto"
import { type KeyRing, mac } from "../../core/index.ts"

/** The part of an event that never changes, even when its details are erased. */
export interface EventContent {
  readonly id: string
  readonly action: string
  readonly workspace_id: string | null
  readonly user_id: string | null
  readonly actor_id: string | null
  readonly target_id: string | null
  readonly ip: string | null
  /** Null only for events that an older version wrote. */
  readonly details_hash: string | null
  readonly created_at: Date
}

/** The position of an event in the chain of all events. */
export interface ChainPosition {
  /** From 1 on, without a gap. */
  readonly ordinal: number
  readonly previous_hash: string
  /** The time of the previous event. That event may be removed, but only after its retention. */
  readonly previous_at: Date | null
}

/** The last event of the chain. The ordinal is 0 if the chain is empty. */
export interface ChainEnd {
  readonly ordinal: number
  readonly hash: string
  readonly at: Date | null
}

/** Writes equal values as equal text, whatever the order of their fields. */
const canonical = (value: unknown): string => {
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

const contentOf = (event: EventContent) => [
  event.id,
  event.action,
  event.workspace_id,
  event.user_id,
  event.actor_id,
  event.target_id,
  event.ip,
  event.details_hash,
  event.created_at
]

/** Erased details cannot be guessed from this hash, because the salt is erased with them. */
export const detailsHashOf = (salt: string, requestId: string | null, details: unknown): string =>
  sha256([salt, requestId, details])

/**
 * Has no key, so that a hash that somebody noted stays comparable when `APP_SECRET` changes. The
 * MACs of the events and of the end protect it.
 */
export const eventHashOf = (event: EventContent, position: ChainPosition): string =>
  sha256([...contentOf(event), position.ordinal, position.previous_hash, position.previous_at])

/**
 * The kind of record that a MAC covers. It comes first in the input, so the MAC of one kind never
 * verifies as another.
 */
export type Attested = readonly [kind: "written" | "linked" | "end", ...values: Array<unknown>]

/** For an event that has no position yet. */
export const writtenEvent = (event: EventContent): Attested => ["written", ...contentOf(event)]

/**
 * For an event with its position in the chain. Its MAC replaces the MAC that the event was written
 * with.
 */
export const linkedEvent = (ordinal: number, hash: string): Attested => ["linked", ordinal, hash]

export const endOfChain = ({ at, hash, ordinal }: ChainEnd): Attested => ["end", ordinal, hash, at]

/** Signs with the current secret, as `<key id>.<mac>`. */
export const attest = ([key]: KeyRing, attested: Attested): string =>
  `${key.id}.${mac(key, canonical(attested))}`

/** `unknown` if the secret that made the MAC is missing, or if there is no MAC. */
export const checkMac = (
  ring: KeyRing,
  attested: Attested,
  signed: string | null
): "valid" | "wrong" | "unknown" => {
  const key = ring.find(({ id }) => signed?.startsWith(`${id}.`))
  if (key === undefined) return "unknown"
  return attest([key], attested) === signed ? "valid" : "wrong"
}
