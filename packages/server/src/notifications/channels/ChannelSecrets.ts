import { secretsMasker } from "@scheduling/calls/maskSecrets"
import { mask, maskWithoutStoredValueProblem } from "@scheduling/domain/calls/credentialHeaders"
import { ValidationFailed } from "@scheduling/domain/shared/Errors"
import { issueAt } from "@scheduling/domain/shared/ValidationIssue"
import { Effect, type Schema as S, Schema, SchemaIssue } from "effect"
import { issuesIn } from "../../http/index.ts"
import { type KeyRing, seal, unsealIfKnown } from "../../core/index.ts"
import type { ConfigFields, ChannelKind } from "../kinds/ChannelKind.ts"
import { refersToSecret, withExampleValues } from "./references.ts"

/**
 * A stored configuration. In `config`, secrets are masked, so that it can be shown. The secrets
 * themselves are stored encrypted.
 */
export interface SealedConfig {
  readonly config: ConfigFields
  readonly sealed_secrets: string
}

/**
 * Masks a secret except for its last four characters. A short secret is masked completely, because
 * four characters would reveal too much of it.
 */
export const maskedSecret = (secret: string): string =>
  secret.length < 12 ? mask : `${mask}${secret.slice(-4)}`

/**
 * Encrypts a configuration's secrets. The encryption is bound to the channel id, so that secrets
 * cannot be moved to another channel. A reference to a workspace secret is not itself a secret.
 */
export const sealConfig = (
  ring: KeyRing,
  channelId: string,
  kind: ChannelKind,
  config: ConfigFields
): SealedConfig => {
  const shown: Record<string, unknown> = {}
  const secrets: Record<string, string> = {}
  for (const [field, value] of Object.entries(config)) {
    if (kind.secrets.includes(field) && !refersToSecret(value)) {
      secrets[field] = String(value)
      shown[field] = maskedSecret(String(value))
    } else {
      shown[field] = value
    }
  }
  return { config: shown, sealed_secrets: seal(ring, channelId, JSON.stringify(secrets)) }
}

/**
 * Decrypts a configuration. Returns undefined if its secrets are lost, because the `APP_SECRET`
 * that encrypted them is no longer configured.
 */
export const decryptConfig = (
  ring: KeyRing,
  channelId: string,
  kind: ChannelKind,
  { config, sealed_secrets }: SealedConfig
): { readonly config: ConfigFields; readonly secrets: ReadonlyArray<string> } | undefined => {
  if (!kind.secrets.some((field) => field in config)) return { config, secrets: [] }
  const text = unsealIfKnown(ring, channelId, sealed_secrets)
  if (text === undefined) return undefined
  const secrets: Readonly<Record<string, string>> = JSON.parse(text)
  return { config: { ...config, ...secrets }, secrets: Object.values(secrets) }
}

/**
 * Returns the configuration after a change. A secret that is masked or omitted is kept. If the
 * stored secrets can no longer be decrypted, all of them must be entered again.
 */
export const changeConfig = (
  kind: ChannelKind,
  shown: ConfigFields,
  open: ConfigFields | undefined,
  changes: ConfigFields
): Effect.Effect<ConfigFields, ValidationFailed> => {
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
      ? "the stored secret can no longer be decrypted"
      : `changing ${retargeted.join(" and ")} would send the stored secret to another server`
  return stale.length === 0
    ? Effect.succeed(changed)
    : Effect.fail(
        new ValidationFailed({
          issues: stale.map((field) =>
            issueAt(["config", field], "required", `must be entered again: ${reason}`)
          )
        })
      )
}

/**
 * Returns the decoded configuration if the kind accepts it, and otherwise a list of all problems
 * with it.
 */
export const decodeConfig = (
  kind: ChannelKind,
  config: ConfigFields
): Effect.Effect<ConfigFields, ValidationFailed> => {
  const masked = kind.secrets.filter((field) => String(config[field]).startsWith(mask))
  if (masked.length > 0) {
    const issues = masked.map((field) =>
      issueAt(["config", field], "invalid", maskWithoutStoredValueProblem)
    )
    return Effect.fail(new ValidationFailed({ issues }))
  }
  const references = Object.entries(config).filter(([, value]) => refersToSecret(value))
  return Effect.flatMap(withExampleValues(kind, config), (checked) =>
    Schema.decodeUnknownEffect(kind.config as S.Codec<ConfigFields, unknown>)(checked, {
      errors: "all",
      onExcessProperty: "error",
      reportInput: true
    }).pipe(
      Effect.mapBoth({
        onSuccess: (decoded) => ({ ...decoded, ...Object.fromEntries(references) }),
        onFailure: ({ issue }) =>
          new ValidationFailed({
            issues: issuesIn(new SchemaIssue.Pointer(["config"], issue))
          })
      })
    )
  )
}

/**
 * Removes a channel's secrets from a provider's response, in whatever form the response repeats
 * them.
 */
export const redactSecrets = (
  text: string | null,
  secrets: ReadonlyArray<string>
): string | null => {
  if (text === null) return null
  return secretsMasker(
    secrets
      .flatMap((secret) => [secret, ...secretParts(secret)])
      .flatMap(secretUrlParts)
      .filter((part) => part.length >= 6)
  )(text)
}

/**
 * Returns the parts of a secret that a response can quote separately, such as a credential without
 * its scheme. Short parts are omitted, because they may be ordinary words.
 */
const secretParts = (secret: string): ReadonlyArray<string> => {
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

/**
 * Returns the parts of a secret URL that a response can quote separately. Responses often quote
 * only the path.
 */
const secretUrlParts = (secret: string): ReadonlyArray<string> => {
  if (!URL.canParse(secret)) return [secret]
  const { pathname, search } = new URL(secret)
  return [secret, pathname, ...pathname.split("/"), search]
}
