import { type AllowedHost, parseAllowedHost } from "@scheduling/domain/secrets/allowedHosts"
import { Array, Context, Effect, Layer, Schedule } from "effect"
import { SqlClient } from "effect/sql"
import { Secrets, unsealIfKnown } from "../../core/index.ts"
import { Signals } from "../../events/index.ts"
import { batchRequests, variableLengthColumns } from "../../store/index.ts"

/**
 * A secret of a workspace. `value` is undefined if the `APP_SECRET` that encrypted it is no longer
 * configured.
 */
export interface OpenedSecret {
  readonly value: string | undefined
  readonly allowed_hosts: ReadonlyArray<AllowedHost>
}

/** The secrets of a workspace that were requested together. Names that do not exist are missing. */
export class OpenedSecrets {
  readonly #secrets: ReadonlyMap<string, OpenedSecret>
  readonly #values = new Map<string, ReadonlyArray<string>>()

  constructor(secrets: Iterable<readonly [name: string, secret: OpenedSecret]>) {
    this.#secrets = new Map(secrets)
  }

  get(name: string): OpenedSecret | undefined {
    return this.#secrets.get(name)
  }

  /** Returns the same array for the same names, so that callers can cache by it. */
  valuesOf(names: ReadonlySet<string>): ReadonlyArray<string> {
    const key = [...names].join()
    const known = this.#values.get(key)
    if (known !== undefined) return known
    const values = [...names].flatMap((name) => this.#secrets.get(name)?.value ?? [])
    this.#values.set(key, values)
    return values
  }
}

/**
 * How long a node caches decrypted secrets. A change whose signal is lost takes effect after this
 * time at the latest.
 */
const cacheMs = 1_000

/** Maximum number of cached workspaces, and of cached combinations of secrets in each. */
const maxCached = 1_000

/** The prefix of the signal to other nodes, before the id of the workspace. */
const signal = "secrets "

/**
 * Decrypts the secrets that users refer to in calls and channels. A call that starts after a change
 * must use the new value. Secrets are therefore cached for at most a second, and a signal makes
 * every node forget changed secrets. Calls that start together share one statement, and each secret
 * is decrypted once for all of them.
 */
export class CallSecrets extends Context.Service<
  CallSecrets,
  {
    /** Returns the secrets with these names. Names that do not exist are left out. */
    readonly open: (workspaceId: string, names: ReadonlySet<string>) => Effect.Effect<OpenedSecrets>
    /** Makes all nodes read the secrets of a workspace again. The change must be committed. */
    readonly changed: (workspaceId: string) => Effect.Effect<void>
  }
>()("@scheduling/server/engine/secrets/CallSecrets") {
  static readonly layer: Layer.Layer<CallSecrets, never, Secrets | Signals | SqlClient.SqlClient> =
    Layer.effect(
      CallSecrets,
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const signals = yield* Signals
        const ring = (yield* Secrets).keys("secret")

        const openAll = Effect.fnUntraced(function* (asked: ReadonlyArray<Asked>) {
          const workspaces = new Map<string, Set<string>>()
          for (const { names, workspaceId } of asked) {
            const wanted = workspaces.get(workspaceId) ?? []
            workspaces.set(workspaceId, new Set([...wanted, ...names]))
          }
          const column = variableLengthColumns(
            sql,
            [...workspaces].flatMap(([workspaceId, names]) =>
              [...names].map((name) => ({ workspaceId, name }))
            )
          )
          const rows = yield* sql<SecretRow>`
            SELECT secrets.id, workspace_id, name, allowed_hosts, sealed_value
            FROM unnest(
              ${column("uuid", ({ workspaceId }) => workspaceId)},
              ${column("text", ({ name }) => name)}
            ) AS asked (workspace_id, name)
            JOIN secrets USING (workspace_id, name)`
          const opened = Map.groupBy(rows, ({ workspace_id }) => workspace_id)
          const byWorkspace = new Map(
            [...opened].map(([workspaceId, found]) => [
              workspaceId,
              new OpenedSecrets(
                found.map(({ allowed_hosts, id, name, sealed_value }) => {
                  const value = unsealIfKnown(ring, id, sealed_value)
                  const hosts = Array.getSuccesses(allowed_hosts.map(parseAllowedHost))
                  return [name, { allowed_hosts: hosts, value }] as const
                })
              )
            ])
          )
          return asked.map(({ workspaceId }) => byWorkspace.get(workspaceId) ?? none)
        })

        const open = yield* batchRequests(
          (asked: ReadonlyArray<Asked>) =>
            openAll(asked).pipe(
              Effect.retry({ schedule: Schedule.spaced("500 millis") }),
              Effect.orDie
            ),
          { maxBatch: 250 }
        )
        const inUse = new Map<string, Map<string, OpenedSecrets>>()
        let changes = 0

        const forget = (workspaceId: string) => {
          changes++
          inUse.delete(workspaceId)
        }
        yield* signals.subscribe({
          received: (payload) => {
            if (payload.startsWith(signal)) forget(payload.slice(signal.length))
          },
          connected: () => {
            changes++
            inUse.clear()
          }
        })

        const use = (workspaceId: string, names: string, opened: OpenedSecrets) => {
          if (inUse.size >= maxCached) inUse.clear()
          let ofWorkspace = inUse.get(workspaceId)
          if (ofWorkspace === undefined || ofWorkspace.size >= maxCached) {
            ofWorkspace = new Map()
            inUse.set(workspaceId, ofWorkspace)
          }
          ofWorkspace.set(names, opened)
          const ended = ofWorkspace
          setTimeout(() => {
            ended.delete(names)
            if (ended.size === 0 && inUse.get(workspaceId) === ended) inUse.delete(workspaceId)
          }, cacheMs).unref()
        }

        return CallSecrets.of({
          open: (workspaceId, names) =>
            Effect.suspend(() => {
              if (names.size === 0) return Effect.succeed(none)
              const key = [...names].join()
              const known = inUse.get(workspaceId)?.get(key)
              if (known !== undefined) return Effect.succeed(known)
              const before = changes
              return Effect.map(open({ workspaceId, names }), (opened) => {
                // A statement that ran during a change may have read the old value.
                if (changes === before) use(workspaceId, key, opened)
                return opened
              })
            }),
          changed: (workspaceId) =>
            Effect.suspend(() => {
              forget(workspaceId)
              return Effect.asVoid(signals.notify([signal + workspaceId]))
            })
        })
      })
    )
}

interface Asked {
  readonly workspaceId: string
  readonly names: ReadonlySet<string>
}

interface SecretRow {
  readonly id: string
  readonly workspace_id: string
  readonly name: string
  readonly allowed_hosts: ReadonlyArray<string>
  readonly sealed_value: string
}

const none = new OpenedSecrets([])
