import { Effect } from "effect"
import { randomBytes } from "node:crypto"
import {
  sendJson,
  newUser,
  type ServerProcess
} from "../../packages/server/test/support/ServerProcess.ts"
import { replaceLastCharacter, type Stopwatch } from "./senders.ts"
import { measureResponseTimes, type TimedResponse } from "./Stopwatch.ts"

const keyUses = 5_000

const unknownKey = () => `pak_${randomBytes(32).toString("base64url")}`

const makeKeys = async (server: ServerProcess) => {
  const { token, workspace } = await Effect.runPromise(newUser(server))
  const create = async () => {
    const input = { name: "a key", scopes: ["workspace:read"] }
    const { body } = await sendJson(server, "POST", `${workspace}/api-keys`, { token, body: input })
    return body as { readonly id: string; readonly key: string }
  }
  const [live, revoked]: [Array<string>, Array<string>] = [[], []]
  for (let index = 0; index < 20; index++) {
    live.push((await create()).key)
    const { id, key } = await create()
    await sendJson(server, "POST", `${workspace}/api-keys/${id}/revoke`, { token })
    revoked.push(key)
  }
  return { live, revoked }
}

export const compareKeyTimes = async (server: ServerProcess, { take }: Stopwatch) => {
  const { live, revoked } = await makeKeys(server)
  const one = (keys: ReadonlyArray<string>, round: number) => keys[round % keys.length] ?? ""
  const use = (key: string): Promise<TimedResponse> =>
    take({ method: "GET", path: "/v1/whoami", headers: { authorization: `Bearer ${key}` } })
  const runners = {
    "unknown key": () => use(unknownKey()),
    "nearly a key": (round: number) => use(replaceLastCharacter(one(live, round))),
    "revoked key": (round: number) => use(one(revoked, round)),
    // The response time reveals that a malformed key is rejected before the query, which is no
    // secret. The measurement must detect this difference, or its other results prove nothing.
    "malformed key": () => use(`${unknownKey()}x`)
  }
  await measureResponseTimes(200, runners)
  return measureResponseTimes(keyUses, runners)
}
