import { type KeyRing, mac } from "../platform/Secrets.ts"

/** What an event says. */
export interface Said {
  readonly id: string
  readonly action: string
  readonly workspace_id: string
  readonly actor_id: string | null
  readonly target_id: string | null
  readonly ip: string | null
  readonly created_at: Date
}

/** Where an event stands in the chain of its workspace. */
export interface Linked {
  /** From 1 on, without a gap. */
  readonly ordinal: number
  readonly previous_hash: string
  /** The time of the previous event. That event may be gone, but only after its retention. */
  readonly previous_at: Date | null
}

/** The same text for the same value, whatever the order of its fields. */
const canonical = (value: unknown): string => {
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`
  if (typeof value !== "object" || value === null) return JSON.stringify(value)
  const fields = Object.entries(value)
    .toSorted(([left], [right]) => (left < right ? -1 : 1))
    .map(([name, field]) => `${JSON.stringify(name)}:${canonical(field)}`)
  return `{${fields.join(",")}}`
}

/** Kept apart from the rest, as the words of what is deleted are erased. */
export const detailsMac = ([key]: KeyRing, id: string, details: unknown): string =>
  mac(key, `details ${id} ${canonical(details)}`)

/** Nobody who has the database but not the secret can make one. */
export const hashOf = ([key]: KeyRing, said: Said, details_mac: string, linked: Linked): string =>
  mac(
    key,
    canonical([
      said.id,
      said.action,
      said.workspace_id,
      said.actor_id,
      said.target_id,
      said.ip,
      said.created_at.toISOString(),
      details_mac,
      linked.ordinal,
      linked.previous_hash,
      linked.previous_at?.toISOString() ?? null
    ])
  )

/** Under today's secret, or a retired one. */
export const isOneOf = (ring: KeyRing, expected: string, make: (key: KeyRing) => string): boolean =>
  ring.some((key) => make([key]) === expected)
