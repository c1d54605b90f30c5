import { mask, nothingStored } from "@scheduling/domain/calls/credentialHeaders"
import { maxResponseBodyBytes } from "@scheduling/domain/executions/Execution"
import { ValidationFailed } from "@scheduling/domain/shared/Errors"
import { issueAt } from "@scheduling/domain/shared/ValidationIssue"
import { Effect, type Schema as S, Schema, SchemaIssue } from "effect"
import { issuesIn } from "../../http/index.ts"
import { type KeyRing, seal, unsealIfKnown } from "../../core/index.ts"
import type { Kind } from "../kinds/Kind.ts"

export type Fields = Readonly<Record<string, unknown>>

/** A configuration as it is stored: `config` may be shown and has masked secrets, the secrets are sealed. */
export interface SealedConfig {
  readonly config: Fields
  readonly sealed_secrets: string
}

/** A masked secret. A short one is masked completely, because four characters would be half of it. */
export const maskedSecret = (secret: string): string =>
  secret.length < 12 ? mask : `${mask}${secret.slice(-4)}`

/** The seal includes the id of the channel, so that secrets cannot be moved to another channel. */
export const sealConfig = (
  ring: KeyRing,
  channelId: string,
  kind: Kind,
  config: Fields
): SealedConfig => {
  const shown: Record<string, unknown> = {}
  const secrets: Record<string, string> = {}
  for (const [field, value] of Object.entries(config)) {
    if (kind.secrets.includes(field)) {
      secrets[field] = String(value)
      shown[field] = maskedSecret(String(value))
    } else {
      shown[field] = value
    }
  }
  return { config: shown, sealed_secrets: seal(ring, channelId, JSON.stringify(secrets)) }
}

/** Undefined if it has secrets and they are lost, because the `APP_SECRET` that sealed them is gone. */
export const openConfig = (
  ring: KeyRing,
  channelId: string,
  kind: Kind,
  { config, sealed_secrets }: SealedConfig
): { readonly config: Fields; readonly secrets: ReadonlyArray<string> } | undefined => {
  if (!kind.secrets.some((field) => field in config)) return { config, secrets: [] }
  const text = unsealIfKnown(ring, channelId, sealed_secrets)
  if (text === undefined) return undefined
  const secrets: Readonly<Record<string, string>> = JSON.parse(text)
  return { config: { ...config, ...secrets }, secrets: Object.values(secrets) }
}

/**
 * The configuration after a change. A secret that is given masked, or not at all, stays. If the secrets
 * are lost, all must be entered again.
 */
export const changeConfig = (
  kind: Kind,
  shown: Fields,
  open: Fields | undefined,
  changes: Fields
): Effect.Effect<Fields, ValidationFailed> => {
  const before = open ?? shown
  const isKept = (field: string, value: unknown) =>
    kind.secrets.includes(field) && field in shown && (value === shown[field] || value === mask)
  const given = Object.entries(changes).filter(([field, value]) => !isKept(field, value))
  const changed = Object.fromEntries(
    Object.entries({ ...before, ...Object.fromEntries(given) }).filter(
      ([, value]) => value !== null
    )
  )
  const retargeted = kind.target.filter((field) => changed[field] !== before[field])
  const fresh = new Set(given.map(([field]) => field))
  const stale =
    open === undefined || retargeted.length > 0
      ? kind.secrets.filter((field) => changed[field] !== undefined && !fresh.has(field))
      : []
  const reason =
    open === undefined
      ? "the stored secret can no longer be read"
      : `changing ${retargeted.join(" and ")} would send the stored secret to another server`
  return stale.length === 0
    ? Effect.succeed(changed)
    : Effect.fail(
        new ValidationFailed({
          issues: stale.map((field) =>
            issueAt(["config", field], "required", `must be given again: ${reason}`)
          )
        })
      )
}

/** The configuration, if the kind accepts it, or a list of everything that is wrong with it. */
export const decodeConfig = (
  kind: Kind,
  config: Fields
): Effect.Effect<Fields, ValidationFailed> => {
  const masked = kind.secrets.filter((field) => String(config[field]).startsWith(mask))
  if (masked.length > 0) {
    const issues = masked.map((field) => issueAt(["config", field], "invalid", nothingStored))
    return Effect.fail(new ValidationFailed({ issues }))
  }
  return Schema.decodeUnknownEffect(kind.config as S.Codec<Fields, unknown>)(config, {
    errors: "all",
    onExcessProperty: "error",
    reportInput: true
  }).pipe(
    Effect.mapError(
      ({ issue }) =>
        new ValidationFailed({
          issues: issuesIn(new SchemaIssue.Pointer(["config"], issue))
        })
    )
  )
}

/** Removes the secrets of a channel from the answer of a provider, however it may echo them. */
export const redact = (text: string | null, secrets: ReadonlyArray<string>): string | null => {
  if (text === null) return null
  const needles = secrets
    .flatMap((secret) => [secret, ...partsOf(secret)])
    .flatMap(spellings)
    .filter((needle) => needle.length >= 6)
    .toSorted((a, b) => b.length - a.length)
  const redacted = needles.reduce((rest, needle) => rest.replaceAll(needle, mask), text)
  return isCut(text) ? withoutBeginning(redacted, needles) : redacted
}

/** Many answers quote a credential without its scheme. Ordinary words are kept. */
const partsOf = (secret: string): ReadonlyArray<string> => {
  const words = secret.split(/\s+/)
  const values = words.flatMap((word) => word.split(/[=:,;"']+/))
  const credentials = /^basic\s+(\S+)$/i.exec(secret)?.[1]
  const pair = credentials === undefined ? "" : Buffer.from(credentials, "base64").toString("utf8")
  const colon = pair.indexOf(":")
  return [
    ...[...words, pair, pair.slice(0, colon), pair.slice(colon + 1)].filter(
      (part) => part.length >= 8
    ),
    ...values.filter((value) => value.length >= 12)
  ]
}

/** The length at which answers are cut. The cut may drop a last character. */
const isCut = (text: string) => Buffer.byteLength(text) >= maxResponseBodyBytes - 3

/** Replaces the beginning of a secret at the end of an answer that was cut there. */
const withoutBeginning = (text: string, needles: ReadonlyArray<string>): string => {
  const lengths = needles.map((needle) => {
    for (let length = needle.length - 1; length >= 3; length--) {
      if (text.endsWith(needle.slice(0, length))) return length
    }
    return 0
  })
  const longest = Math.max(0, ...lengths)
  return longest === 0 ? text : `${text.slice(0, -longest)}${mask}`
}

/** Answers often quote only the path of a secret URL. */
const spellings = (secret: string): ReadonlyArray<string> => {
  const parts = URL.canParse(secret)
    ? [new URL(secret).pathname, ...new URL(secret).pathname.split("/"), new URL(secret).search]
    : []
  return [secret, ...parts].flatMap((part) => [
    part,
    encodeURIComponent(part),
    JSON.stringify(part).slice(1, -1),
    part.replaceAll("/", String.raw`\/`),
    ...base64Of(part)
  ])
}

/** As the second half of `user:secret`, at any of three offsets: the middle of it is always there. */
const base64Of = (text: string): ReadonlyArray<string> =>
  [0, 1, 2].map((offset) =>
    Buffer.from(`${"\0".repeat(offset)}${text}`)
      .toString("base64")
      .replace(/=+$/, "")
      .slice(offset === 0 ? 0 : 4, -1)
  )
