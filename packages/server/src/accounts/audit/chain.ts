import { createHash } from "node:crypto"
import { type KeyRing, mac } from "../../core/index.ts"

/** The part of an event that never changes, also when its details are erased. */
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
  /** The time of the previous event. That event may be gone, but only after its retention. */
  readonly previous_at: Date | null
}

/** The last event of the chain. The ordinal is 0 as long as there is none. */
export interface ChainEnd {
  readonly ordinal: number
  readonly hash: string
  readonly at: Date | null
}

/** The same text for the same value, whatever the order of its fields. */
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

/** Nobody can guess erased details from it, because the salt is erased with them. */
export const detailsHashOf = (salt: string, requestId: string | null, details: unknown): string =>
  sha256([salt, requestId, details])

/**
 * Without a key, so that a hash that somebody has noted down stays comparable when `APP_SECRET`
 * changes. The MACs of the events and of the end protect it.
 */
export const eventHashOf = (event: EventContent, position: ChainPosition): string =>
  sha256([...contentOf(event), position.ordinal, position.previous_hash, position.previous_at])

/**
 * The kind of record that a MAC covers. It is the first word of the input, so no kind passes as
 * another.
 */
export type Attested = readonly [kind: "written" | "linked" | "end", ...values: Array<unknown>]

/** For an event that has no position yet. */
export const writtenEvent = (event: EventContent): Attested => ["written", ...contentOf(event)]

/** For an event with its position. It replaces the MAC of the written event. */
export const linkedEvent = (ordinal: number, hash: string): Attested => ["linked", ordinal, hash]

export const endOfChain = ({ at, hash, ordinal }: ChainEnd): Attested => ["end", ordinal, hash, at]

/** As `<key id>.<mac>`, under today's secret. */
export const attest = ([key]: KeyRing, attested: Attested): string =>
  `${key.id}.${mac(key, canonical(attested))}`

/** `unknown` if the secret that made the MAC is not given, or if there is no MAC. */
export const checkMac = (
  ring: KeyRing,
  attested: Attested,
  signed: string | null
): "valid" | "wrong" | "unknown" => {
  const key = ring.find(({ id }) => signed?.startsWith(`${id}.`))
  if (key === undefined) return "unknown"
  return attest([key], attested) === signed ? "valid" : "wrong"
}
