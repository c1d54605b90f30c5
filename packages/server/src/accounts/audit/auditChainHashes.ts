import { hash } from "node:crypto"
import { type KeyRing, mac } from "../../core/index.ts"

/** The part of an event that never changes, even if the event's details are erased. */
export interface AuditEventContent {
  readonly id: string
  readonly action: string
  readonly workspace_id: string | null
  readonly user_id: string | null
  readonly actor_id: string | null
  readonly subject_id: string | null
  readonly ip: string | null
  /** Null for an event that an older version of the service has written. */
  readonly details_hash: string | null
  readonly created_at: Date
}

export interface AuditChainPosition {
  /** The event's number. Events are numbered from 1 without gaps. */
  readonly ordinal: number
  readonly previous_hash: string
  /** The previous event's time. That event itself is deleted after its retention period. */
  readonly previous_at: Date | null
}

/** The chain's last event. `ordinal` is 0 if the chain is empty. */
export interface AuditChainEnd {
  readonly ordinal: number
  readonly hash: string
  readonly at: Date | null
}

/**
 * Converts a value to JSON like `JSON.stringify`, but with the fields of each object in the order of
 * their names.
 */
export const canonicalJson = (value: unknown): string => {
  if (typeof value !== "object" || value === null) return JSON.stringify(value)
  // Concatenating strings takes a third less time than joining arrays.
  let text = ""
  if (Array.isArray(value)) {
    for (const item of value) text += (text && ",") + canonicalJson(item)
    return `[${text}]`
  }
  const fields = value as Readonly<Record<string, unknown>>
  if (typeof fields["toJSON"] === "function") return JSON.stringify(value)
  for (const name of Object.keys(fields).toSorted()) {
    const field = fields[name]
    if (field !== undefined) text += `${text && ","}${JSON.stringify(name)}:${canonicalJson(field)}`
  }
  return `{${text}}`
}

const sha256 = (text: string): string => hash("sha256", text, "base64url")

const hashedFields = (event: AuditEventContent) => [
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
 * Hashes details, given as canonical JSON, with a salt. The salt is erased together with the details, so that nobody can
 * guess them from the hash.
 */
export const hashDetails = (salt: string, requestId: string | null, details: string): string =>
  sha256(`[${JSON.stringify(salt)},${JSON.stringify(requestId)},${details}]`)

/**
 * Hashes an event and its position. The hash uses no key, so that an operator can compare a noted
 * hash even after `APP_SECRET` has changed. The MACs protect the hash.
 */
export const hashEvent = (event: AuditEventContent, position: AuditChainPosition): string =>
  sha256(
    canonicalJson([
      ...hashedFields(event),
      position.ordinal,
      position.previous_hash,
      position.previous_at
    ])
  )

/**
 * The content that a MAC covers. The kind comes first, so that a MAC of one kind is never valid for
 * another.
 */
export type AttestedContent = readonly [
  kind: "written" | "linked" | "end",
  ...values: Array<unknown>
]

/** Returns the content that the MAC of an unlinked event covers. */
export const attestedUnlinkedEvent = (event: AuditEventContent): AttestedContent => [
  "written",
  ...hashedFields(event)
]

/**
 * Returns the content that the MAC of a linked event covers. This MAC replaces the unlinked event's
 * MAC.
 */
export const attestedLinkedEvent = (ordinal: number, hash: string): AttestedContent => [
  "linked",
  ordinal,
  hash
]

export const attestedChainEnd = ({ at, hash, ordinal }: AuditChainEnd): AttestedContent => [
  "end",
  ordinal,
  hash,
  at
]

/** Creates a MAC with the current secret, as `<key id>.<mac>`. */
export const createMac = ([key]: KeyRing, attested: AttestedContent): string =>
  `${key.id}.${mac(key, canonicalJson(attested))}`

/**
 * Verifies a MAC. Returns `unknown` if there is no MAC, or if the secret it was made with is not
 * configured.
 */
export const checkMac = (
  ring: KeyRing,
  attested: AttestedContent,
  signed: string | null
): "valid" | "wrong" | "unknown" => {
  const key = ring.find(({ id }) => signed?.startsWith(`${id}.`))
  if (key === undefined) return "unknown"
  return createMac([key], attested) === signed ? "valid" : "wrong"
}
