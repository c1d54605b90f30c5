import { bearerKeyRegExp } from "@scheduling/domain/auth/secretPatterns"
import { collectionOf, type RequestDraft } from "./exchange/RequestDraft.ts"
import {
  bodyOf,
  errorOf,
  type Exchange,
  type Json,
  objectOrEmpty,
  objectsOrEmpty,
  targetOf
} from "./exchange/Exchange.ts"
import { batchItemsOf } from "./judge/Batch.ts"
import { approvalsPathOf, type World } from "./world/World.ts"

/** Learns from a response: ids to reuse, new credentials, and revoked credentials. */
export const learn = (exchange: Exchange, world: World): void => {
  const { answer, draft, request } = exchange
  const target = targetOf(exchange)
  if (target === undefined || request.method === "HEAD") return
  if (answer.status >= 400) return unlearn(exchange, world)

  for (const [key] of answer.text.matchAll(bearerKeyRegExp)) world.shownOnce.add(key)
  const path = request.target.split("?")[0] ?? ""
  const segments = path.split("/").slice(1)
  const body = bodyOf(answer)
  for (const secret of [body["token"], body["secret"]]) {
    if (typeof secret === "string") world.shownOnce.add(secret)
  }
  if (request.method === "DELETE") {
    world.removeId(collectionOf(segments.slice(0, -1), draft.credential), segments.at(-1) ?? "")
  }
  if (typeof body["next_cursor"] === "string") {
    const sort = new URLSearchParams(request.target.split("?")[1]).get("sort")
    world.addCursor(path, sort, body["next_cursor"])
  }
  const isCollection = target.method === "GET" || target.successes.has(201)
  for (const item of batchItemsOf(exchange)) {
    const { id } = bodyOf(item.answer)
    if (typeof id === "string")
      world.addId(collectionOf(segments.slice(0, -1), draft.credential), id)
  }
  for (const record of [body, ...objectsOrEmpty(body["data"])]) {
    if (isCollection && typeof record["id"] === "string" && !path.endsWith(record["id"])) {
      world.addId(collectionOf(segments, draft.credential), record["id"])
    }
    learnExecutions(record, segments, world)
  }
  if (draft.flaws.length === 0) lessons[target.name]?.(draft, body, world)
}

const decides: ReadonlySet<string> = new Set(["executions.approve", "executions.reject"])

const unlearn = ({ answer, draft, request }: Exchange, world: World) => {
  const { credential, segments } = draft
  const error = errorOf(answer)
  if (draft.flaws.length > 0 || credential === undefined) return
  if (error?.error === "invalid_token" || error?.error === "invalid_api_key") {
    if (!credential.isLasting) world.forget(credential)
  } else if (error?.["resource"] === "workspace") {
    world.forgetWorkspace(segments[2] ?? "")
  } else if (error?.error === "not_found") {
    for (const [at, id] of segments.entries()) {
      if (at > 2) world.removeId(collectionOf(segments.slice(0, at), credential), id)
    }
  } else if (decides.has(draft.target.name) && error?.error === "conflict") {
    forgetApproval(draft, {}, world)
  } else if (request.method === "DELETE" && error?.error === "conflict") {
    world.removeId(collectionOf(segments.slice(0, -1), credential), segments.at(-1) ?? "")
  }
}

const folders: Readonly<Record<string, string>> = {
  cron: "cron",
  delayed: "delayed",
  chain: "chains"
}

/**
 * Remembers execution ids for both their workspace and their task, and chain run ids for their
 * chain.
 */
const learnExecutions = (record: Json, segments: ReadonlyArray<string>, world: World) => {
  const workspace = `/${segments.slice(0, 3).join("/")}`
  const add = (owner: string, execution: unknown) => {
    if (typeof execution !== "string") return
    world.addId(`${workspace}/executions`, execution)
    world.addId(`${workspace}/${owner}/executions`, execution)
  }
  const { approval, chain_id, id, kind, task_id } = record
  if (typeof approval === "object" && approval !== null && typeof id === "string")
    world.addId(approvalsPathOf(segments[2] ?? ""), id)
  if (typeof kind === "string" && typeof task_id === "string")
    add(`${folders[kind]}/${task_id}`, id)
  if (typeof chain_id === "string" && typeof id === "string") {
    world.addId(`${workspace}/chains/${chain_id}/runs`, id)
    for (const { execution } of objectsOrEmpty(record["steps"]))
      add(`tasks/chains/${chain_id}`, objectOrEmpty(execution)["id"])
  }
}

/** Updates the world after a successful request to each endpoint. */
const lessons: Readonly<Record<string, (draft: RequestDraft, body: Json, world: World) => void>> = {
  "auth.register": ({ payload }, { user, workspace }, world) =>
    world.addAccount({
      email: String(objectOrEmpty(user)["email"]),
      password: String(objectOrEmpty(payload)["password"]),
      isLasting: false,
      workspaces: [String(objectOrEmpty(workspace)["id"])]
    }),
  "auth.login": ({ payload }, body, world) =>
    learnSession(objectOrEmpty(payload)["email"], body, world),
  "auth.refresh": ({ payload }, body, world) => {
    const used = objectOrEmpty(payload)["refresh_token"]
    const session = world.sessions.find(({ refreshToken }) => refreshToken === used)
    if (session === undefined) return
    world.forget(session)
    learnSession(session.account.email, body, world)
  },
  "auth.updateMe": ({ credential }, { email }) => {
    if (credential !== undefined) credential.account.email = String(email)
  },
  "auth.changePassword": ({ credential, payload }, body, world) => {
    if (credential === undefined) return
    credential.account.password = String(objectOrEmpty(payload)["new_password"])
    learnSession(credential.account.email, body, world)
  },
  "workspaces.create": ({ credential }, { id }, world) => {
    if (credential === undefined) return
    // Keep the first two workspaces, which already contain records, and the newest of the others.
    credential.account.workspaces.splice(2, Infinity, String(id))
    world.addOwner(String(id), credential.account)
  },
  "workspaces.delete": ({ segments }, _, world) => world.forgetWorkspace(segments[2] ?? ""),
  "executions.approve": forgetApproval,
  "executions.reject": forgetApproval,
  "apiKeys.create": learnKey,
  "apiKeys.rotate": learnKey
}

const learnSession = (email: unknown, { access_token, refresh_token }: Json, world: World) => {
  const account = world.accounts.find((one) => one.email === email)
  if (account === undefined) return
  const session = { token: String(access_token), refreshToken: String(refresh_token) }
  world.shownOnce.add(session.token)
  world.addSession({
    ...session,
    account,
    isLasting: false
  })
}

/** The approval was decided or is no longer pending. */
function forgetApproval({ segments }: RequestDraft, _: Json, world: World) {
  world.removeId(approvalsPathOf(segments[2] ?? ""), segments[4] ?? "")
}

function learnKey({ credential, segments }: RequestDraft, { key, scopes }: Json, world: World) {
  if (credential === undefined || !Array.isArray(scopes)) return
  world.addKey({
    token: String(key),
    account: credential.account,
    isLasting: false,
    key: { workspace: segments[2] ?? "", scopes: scopes.map(String) }
  })
}
