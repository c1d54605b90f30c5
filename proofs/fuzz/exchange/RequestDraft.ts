import { randomUUID } from "node:crypto"
import type { Target } from "../contract/Contract.ts"
import type { Dice } from "../Dice.ts"
import { secretsIn } from "../contract/Generate.ts"
import type { WireRequest } from "./Wire.ts"
import { approvalsPathOf, type Credential, type World } from "../world/World.ts"

/** An unfinished request. It is valid according to the contract until mutations add flaws. */
export interface RequestDraft {
  readonly target: Target
  readonly credential: Credential | undefined
  method: string
  segments: Array<string>
  /** The parameters as `name=value`, percent-encoded. */
  query: Array<string>
  headers: Array<readonly [name: string, value: string]>
  payload: unknown
  body: Buffer | undefined
  isChunked: boolean
  readonly secrets: ReadonlyArray<string>
  /** The reasons why the server may reject the request. */
  readonly flaws: Array<string>
  /** The flaws that the server must always reject. */
  readonly hopeless: Set<"body" | "size">
}

/**
 * Endpoints that revoke credentials. They are never called with a credential that
 * must stay valid (`isLasting`).
 */
export const revokingEndpoints: ReadonlySet<string> = new Set([
  "auth.logout",
  "auth.deleteMe",
  "auth.changePassword",
  "workspaces.delete"
])

export const draftOf = (target: Target, dice: Dice, world: World): RequestDraft => {
  const flaws: Array<string> = []
  const credential = credentialFor(target, dice.fork("credential"), world)
  if (credential === undefined && target.access.kind !== "public") flaws.push("no credential")
  const segments = segmentsOf(target, credential, dice.fork("path"), world, flaws)
  const path = `/${segments.join("/")}`
  const { cursor: madeUp, ...others } = Object(target.query?.generate())
  const { sort = null } = others
  const cursor = dice.chance(0.7) ? world.cursor(path, sort) : undefined
  // In a sorted list, a cursor also contains the sort value, so an invented cursor would be
  // rejected.
  const takesCursor = madeUp !== undefined && (sort === null || cursor !== undefined)
  const query = withKnown(takesCursor ? { ...others, cursor: madeUp } : others, {
    cursor,
    task_id: dice.pickLate(world.idsIn(path.replace(/executions(\/stats)?$/, taskFolder(dice))))
  })
  const payload = payloadOf(target, credential, dice.fork("payload"), world)
  const body =
    payload.encoded === undefined ? undefined : Buffer.from(JSON.stringify(payload.encoded))
  return {
    target,
    credential,
    method: target.method,
    segments,
    query: queryOf(target.query?.encode(query)),
    headers: headersOf(target, credential, body !== undefined, dice.fork("headers")),
    payload: payload.encoded,
    body,
    isChunked: body !== undefined && dice.chance(0.1),
    secrets: payload.secrets,
    flaws,
    hopeless: new Set()
  }
}

export const pathOf = ({ segments }: Pick<RequestDraft, "segments">) => `/${segments.join("/")}`

export const requestOf = (draft: RequestDraft, host: string): WireRequest => ({
  method: draft.method,
  target: pathOf(draft) + (draft.query.length === 0 ? "" : `?${draft.query.join("&")}`),
  headers: [["host", host], ...draft.headers],
  body: draft.body,
  isChunked: draft.isChunked
})

const credentialFor = ({ access, name, segments }: Target, dice: Dice, world: World) => {
  const sessions = world.sessions.filter(
    ({ account, isLasting }) =>
      !(isLasting && revokingEndpoints.has(name)) &&
      (!segments.includes(":workspace_id") || account.workspaces.length > 0)
  )
  const keys = world.keys.filter(
    ({ key }) => access.kind !== "scope" || key?.scopes.includes(access.scope) === true
  )
  const candidates = access.kind !== "jwt" && dice.chance(0.5) ? keys : sessions
  const lasting = candidates.filter(({ isLasting }) => isLasting)
  if (access.kind === "public") return undefined
  return dice.pickLate(lasting.length > 0 && dice.chance(0.6) ? lasting : candidates)
}

const segmentsOf = (
  { segments }: Target,
  credential: Credential | undefined,
  dice: Dice,
  world: World,
  flaws: Array<string>
) => {
  const made: Array<string> = []
  for (const [at, segment] of segments.entries()) {
    if (!isParameter(segment)) {
      made.push(segment)
      continue
    }
    if (segment === ":key") {
      made.push(dice.fork(segment).pickLate(callerChosenKeys) ?? "")
      continue
    }
    const known =
      segment === ":workspace_id"
        ? workspacesOf(credential)
        : world.idsIn(collectionFor(segments, made, credential))
    // Prefer workspaces that contain the records required by the rest of the path.
    const rest = segments.slice(at + 1)
    const inside = rest.slice(0, Math.max(0, rest.findIndex(isParameter)))
    const leading = known.filter(
      (id) => world.idsIn(collectionFor(segments, [...made, id, ...inside], credential)).length > 0
    )
    const id = dice.fork(segment).pickLate(leading.length > 0 ? leading : known)
    if (id === undefined) flaws.push(`no ${segment.slice(1)}`)
    made.push(id ?? randomUUID())
  }
  return made
}

/** Returns the collection for the ids that follow `made` in an endpoint's path. */
const collectionFor = (
  segments: ReadonlyArray<string>,
  made: ReadonlyArray<string>,
  credential: Credential | undefined
) =>
  ["approve", "reject"].includes(segments.at(-1) ?? "") && made.at(-1) === "executions"
    ? approvalsPathOf(made[2] ?? "")
    : collectionOf(made, credential)

/** A small set of caller-chosen keys, so that some of them already exist. */
const callerChosenKeys = ["nightly", "hourly", "reports", "cleanup"]

const isParameter = (segment: string) => segment.startsWith(":")

const workspacesOf = (credential: Credential | undefined): ReadonlyArray<string> =>
  credential?.key === undefined
    ? (credential?.account.workspaces ?? [])
    : [credential.key.workspace]

/**
 * Returns the collection of a path's ids, within its workspace or, if there is none, within the
 * account.
 */
export const collectionOf = (
  segments: ReadonlyArray<string>,
  credential: Credential | undefined
) => {
  const path = `/${segments.join("/")}`
  return segments[1] === "workspaces" ? path : `${credential?.account.email} ${path}`
}

const taskFolder = (dice: Dice) => dice.pick(["cron", "delayed", "chains"])

/** Replaces generated values with ids that the attacker knows, if any. */
const withKnown = (value: unknown, known: Readonly<Record<string, unknown>>): unknown =>
  typeof value !== "object" || value === null
    ? value
    : Object.fromEntries(
        Object.entries(value).map(([name, made]: [string, unknown]) => {
          const one = known[name]
          if (one === undefined) return [name, made]
          return [name, Array.isArray(made) ? [one] : one]
        })
      )

const payloadOf = (
  { name, payload }: Target,
  credential: Credential | undefined,
  dice: Dice,
  world: World
): { readonly encoded: unknown; readonly secrets: ReadonlyArray<string> } => {
  if (payload === undefined) return { encoded: undefined, secrets: [] }
  const made = payload.generate()
  const known = knownFields(name, credential, dice, world)
  const { queue_key, ...others } = Object(payload.encode(made))
  // An invented key matches no queue, so it is rarely sent.
  const takesKey = queue_key !== undefined && dice.chance(0.2)
  const encoded = withKnown(takesKey ? { ...others, queue_key } : others, known)
  const needsPassword = name === "auth.updateMe" && Object.hasOwn(Object(encoded), "email")
  return {
    encoded: needsPassword
      ? { ...Object(encoded), current_password: known["current_password"] }
      : encoded,
    secrets: [...secretsIn(made), known["current_password"], known["password"]].filter(
      (secret): secret is string => typeof secret === "string" && secret.length >= recognizable
    )
  }
}

/** The minimum length at which a string cannot appear in a response by chance. */
const recognizable = 12

const knownFields = (
  name: string,
  credential: Credential | undefined,
  dice: Dice,
  world: World
): Readonly<Record<string, unknown>> => {
  const delay_seconds = dice.chance(0.7) ? dice.below(3) : undefined
  const account = dice.pickLate(world.accounts.filter(({ isLasting }) => !isLasting))
  const refresh_token = dice.pickLate(
    world.sessions.filter(({ isLasting }) => !isLasting)
  )?.refreshToken
  return name === "auth.login"
    ? { email: account?.email, password: account?.password }
    : { delay_seconds, refresh_token, current_password: credential?.account.password }
}

const queryOf = (encoded: unknown): Array<string> =>
  Object.entries(
    (encoded ?? {}) as Readonly<Record<string, string | ReadonlyArray<string> | undefined>>
  ).flatMap(([name, value]) =>
    [value ?? []]
      .flat()
      .map((one) => `${encodeURIComponent(name)}=${encodeURIComponent(one.toWellFormed())}`)
  )

const headersOf = (
  target: Target,
  credential: Credential | undefined,
  hasBody: boolean,
  dice: Dice
) => {
  const own = target.headers?.encode(target.headers.generate()) ?? {}
  const headers: Array<readonly [string, string]> = [
    ["x-forwarded-for", `100.${dice.below(256)}.${dice.below(256)}.${dice.below(256)}`],
    ...Object.entries(own as Readonly<Record<string, string>>)
  ]
  if (credential !== undefined) headers.push(["authorization", `Bearer ${credential.token}`])
  if (hasBody) headers.push(["content-type", "application/json"])
  if (dice.chance(0.2)) headers.push(["x-request-id", `${requestIdPrefix}${dice.below(1e9)}`])
  return headers
}

export const requestIdPrefix = "fuzz-"
