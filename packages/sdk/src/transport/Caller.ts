import { raceWithAbort } from "./clock.ts"
import { NoCredentialError, SchedulingError } from "../errors.ts"
import { InvalidTokenError } from "../generated/errors.ts"
import type { PasswordChange, WhoAmI, Workspace, WorkspaceId } from "../generated/shared.ts"
import type { ResponseWithData, Http } from "./Http.ts"
import { randomIdempotencyKey } from "./idempotencyKey.ts"
import {
  type Idempotent,
  type InWorkspace,
  type RequestOptions,
  type Versioned,
  checkVisibleAscii
} from "../options.ts"
import type { BearerSource } from "../session/UserSession.ts"

/** One call, as described by a generated method. */
export interface Call {
  /**
   * The verb and the path as in the contract: `GET /v1/whoami`. Without the first slash, the path
   * is relative to the workspace: `GET cron/{task_id}`.
   */
  readonly route: string
  /** The placeholders' values, in the order in which they occur in the path. */
  readonly ids?: ReadonlyArray<string>
  readonly query?: object | undefined
  readonly body?: object | undefined
  readonly isPublic?: boolean
  /**
   * True for a call that is sent even without a credential. The service decides whether that is
   * allowed.
   */
  readonly isRaw?: boolean
  readonly acceptsKey?: boolean
  readonly isStream?: boolean
  readonly options?: (RequestOptions & InWorkspace & Idempotent & Versioned) | undefined
}

/** Turns calls into requests by adding the workspace, the credential and the idempotency key. */
export class Caller {
  readonly #http: Http
  readonly #bearer: BearerSource
  #workspaceId: Promise<WorkspaceId> | undefined

  constructor(http: Http, bearer: BearerSource, workspaceId: WorkspaceId | undefined) {
    this.#http = http
    this.#bearer = bearer
    if (workspaceId !== undefined) this.#workspaceId = Promise.resolve(workspaceId)
  }

  /** Returns a copy of this caller that uses another `Http`. The copy keeps a known workspace. */
  by(http: Http): Caller {
    const caller = new Caller(http, this.#bearer, undefined)
    caller.#workspaceId = this.#workspaceId
    return caller
  }

  async send(call: Call): Promise<ResponseWithData> {
    const { idempotencyKey, version, workspaceId, ...given } = call.options ?? {}
    const options =
      version === undefined
        ? given
        : { ...given, headers: { ...given.headers, "if-match": `"${version}"` } }
    const { signal } = options
    signal?.throwIfAborted()
    const [verb, path] = parseRoute(call.route)
    const { problem } = this.#bearer
    // The check comes first, so that the error names the call that needs the credential.
    if (problem !== undefined && call.isPublic !== true && call.isRaw !== true) {
      throw new NoCredentialError(`${verb} ${path}`, problem)
    }
    const ids = path.includes("{workspace_id}/")
      ? [workspaceId ?? (await raceWithAbort(this.workspaceId(), signal)), ...(call.ids ?? [])]
      : (call.ids ?? [])
    const request = {
      ...options,
      verb,
      path: fill(path, ids) + queryString(call.query),
      body: call.body,
      ...(call.isStream === true && { isStream: true }),
      // All attempts share one key; otherwise a retry would repeat the work.
      idempotencyKey:
        idempotencyKey === undefined
          ? call.acceptsKey === true
            ? randomIdempotencyKey()
            : undefined
          : checkVisibleAscii("idempotencyKey", idempotencyKey, 255)
    }
    if (call.isPublic === true) return this.#http.send(request)

    const send = (bearer: string | undefined) => {
      const answer = this.#http.send({ ...request, bearer })
      return path === "/v1/auth/password" && call.body !== undefined
        ? this.#bearer.exchange(answer, (call.body as PasswordChange).new_password)
        : answer
    }
    const bearer = await raceWithAbort(this.#bearer.current(), signal)
    try {
      return await send(bearer)
    } catch (error) {
      if (!(error instanceof InvalidTokenError) || bearer === undefined) throw error
      if (!(await raceWithAbort(this.#bearer.replace(bearer), signal))) throw error
      return send(await this.#bearer.current())
    }
  }

  /**
   * Finds the workspace with one request. A failure is not cached, so that the next call tries
   * again.
   */
  workspaceId(): Promise<WorkspaceId> {
    this.#workspaceId ??= this.#findWorkspace().catch((error: unknown) => {
      this.#workspaceId = undefined
      throw error
    })
    return this.#workspaceId
  }

  async #findWorkspace(): Promise<WorkspaceId> {
    const { data: me } = await this.send({ route: "GET /v1/whoami" })
    const caller = me as WhoAmI
    if (caller.kind !== "jwt") return caller.workspace_id
    const { data } = await this.send({ route: "GET /v1/workspaces", query: { limit: 2 } })
    const [first, second] = (data as { readonly data: ReadonlyArray<Workspace> }).data
    if (first !== undefined && second === undefined) return first.id
    throw new SchedulingError(
      first === undefined
        ? "You are not a member of a workspace: create one with client.workspaces.create"
        : "You are a member of several workspaces: select one with `workspaceId` or withWorkspace"
    )
  }
}

const parseRoute = (route: string): readonly [verb: string, path: string] => {
  const [verb = "", ...rest] = route.split(" ")
  const path = rest.join(" ")
  return [verb, path.startsWith("/") ? path : `/v1/workspaces/{workspace_id}/${path}`]
}

/**
 * Replaces placeholders such as `{task_id}` with the encoded ids. Encoding does not change dots or
 * an empty string, which would result in another path: `cron.delete("..")` must not delete the
 * workspace.
 */
const fill = (path: string, ids: ReadonlyArray<string>): string => {
  let index = 0
  return path.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const id: unknown = ids[index++]
    if (typeof id !== "string" || /^\.{0,2}$/.test(id)) {
      throw new SchedulingError(`${name} is not an id: ${JSON.stringify(id)}`)
    }
    return encodeURIComponent(id)
  })
}

const textOf = (value: unknown): string =>
  value instanceof Date ? value.toISOString() : String(value)

/** Formats a query. A parameter whose value is an array is repeated for each item. */
const queryString = (query: object = {}): string => {
  const given = Object.entries(query).flatMap(([name, value]: [string, unknown]) =>
    [value]
      .flat()
      .filter((one) => one !== undefined)
      .map((one) => [name, textOf(one)])
  )
  const text = new URLSearchParams(given).toString()
  return text === "" ? "" : `?${text}`
}
