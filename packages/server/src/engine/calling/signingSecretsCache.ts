import { Clock, Effect, type Redacted } from "effect"
import { SigningSecrets } from "../signing/SigningSecrets.ts"

const secretsLiveMs = 5_000
const maxWorkspaces = 10_000

/**
 * Caches signing secrets for a few seconds. This is safe because the old secret stays valid for a
 * day after a rotation.
 */
export const makeSigningSecretsCache = Effect.gen(function* () {
  const signingSecrets = yield* SigningSecrets
  const clock = yield* Clock.Clock
  const cache = new Map<
    string,
    { readonly secrets: ReadonlyArray<Redacted.Redacted>; readonly untilMs: number }
  >()
  return Effect.fnUntraced(function* (workspaces: ReadonlySet<string>) {
    const now = clock.currentTimeMillisUnsafe()
    const missing = [...workspaces].filter((id) => (cache.get(id)?.untilMs ?? 0) <= now)
    if (missing.length > 0) {
      const found = yield* signingSecrets.findLive(missing)
      if (cache.size > maxWorkspaces) cache.clear()
      for (const id of missing) {
        cache.set(id, { secrets: found.get(id) ?? [], untilMs: now + secretsLiveMs })
      }
    }
    return new Map([...workspaces].map((id) => [id, cache.get(id)?.secrets ?? []]))
  })
})
