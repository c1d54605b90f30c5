import { scopes } from "@scheduling/domain/api-keys/Scope"
import { sendJson } from "../../../packages/server/test/support/ServerProcess.ts"
import { type Account, approvalsPathOf, World } from "./World.ts"

const founders = 4
const workspacesEach = 2
/** The number of steps per workspace that are waiting for approval when the attack starts. */
const approvalsEach = 8

/**
 * Creates the initial world: permanent accounts with workspaces. Each workspace has a key with all
 * scopes, and steps that are waiting for approval. A generated chain's step has rarely reached that
 * state by the time a request tries to approve it.
 */
export const foundWorld = async (url: string): Promise<World> => {
  const world = new World()
  for (let number = 0; number < founders; number++) await found(url, world)
  return world
}

const found = async (url: string, world: World) => {
  const send = async (at: string, body: object, token?: string) => {
    const answer = await sendJson({ url }, "POST", at, {
      body,
      ...(token !== undefined && { token })
    })
    if (answer.status >= 300) throw new Error(`${at}: ${JSON.stringify(answer.body)}`)
    return answer.body
  }
  const login = {
    email: `${crypto.randomUUID()}@example.com`,
    password: `founder ${crypto.randomUUID()}`
  }
  const { workspace } = await send("/v1/auth/register", login)
  const session = await send("/v1/auth/login", login)
  const token = String(session.access_token)
  const account: Account = { ...login, isLasting: true, workspaces: [String(workspace.id)] }
  while (account.workspaces.length < workspacesEach) {
    const another = await send("/v1/workspaces", { name: "another" }, token)
    account.workspaces.push(String(another.id))
  }
  world.addAccount(account)
  world.addSession({ token, account, isLasting: true })
  world.hidden.add(sessionIdOf(token))
  for (const id of account.workspaces) {
    const made = await send(`/v1/workspaces/${id}/api-keys`, { name: "lasting", scopes }, token)
    world.hidden.add(String(made.id))
    world.shownOnce.add(String(made.key))
    world.addKey({
      token: String(made.key),
      account,
      isLasting: true,
      key: { workspace: id, scopes }
    })
    const approve = { kind: "approve", name: "release", timeout_seconds: 86_400 }
    const chains = `/v1/workspaces/${id}/chains`
    const chain = await send(chains, { name: "approvals", steps: [approve] }, token)
    for (let run = 0; run < approvalsEach; run++) {
      const { id: execution } = await send(`${chains}/${chain.id}/run`, {}, token)
      world.addId(approvalsPathOf(id), String(execution))
    }
  }
}

const sessionIdOf = (token: string) =>
  String(JSON.parse(Buffer.from(token.split(".")[1] ?? "", "base64url").toString()).sid)
