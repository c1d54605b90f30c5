import { randomBytes } from "node:crypto"
import { sendJson, type ServerProcess } from "../../packages/server/test/support/ServerProcess.ts"
import type { makeStopwatch } from "./Stopwatch.ts"

export type Stopwatch = ReturnType<typeof makeStopwatch>

/** Returns a header with a random client address, so that per-address limits do not apply. */
const randomAddressHeader = () => ({ "x-forwarded-for": `100.${[...randomBytes(3)].join(".")}` })

export const password = "correct horse battery staple"

export const newEmail = () => `${crypto.randomUUID()}@example.com`

export const newAccount = async (server: ServerProcess) => {
  const account = { email: newEmail(), password }
  const post = async (path: string) => {
    const { body, status } = await sendJson(server, "POST", path, {
      body: account,
      headers: randomAddressHeader()
    })
    if (status > 201) throw new Error(`${path} was answered with ${status}`)
    return body
  }
  const { workspace } = await post("/v1/auth/register")
  const { access_token } = await post("/v1/auth/login")
  return {
    email: account.email,
    token: String(access_token),
    workspace: `/v1/workspaces/${workspace.id}`
  }
}

/** Builds a request with a body for `take`. */
export const postRequest = (path: string, body: object, token?: string) => ({
  method: "POST",
  path,
  headers: {
    "content-type": "application/json",
    ...randomAddressHeader(),
    ...(token === undefined ? {} : { authorization: `Bearer ${token}` })
  },
  body: JSON.stringify(body)
})

/** Replaces the last character of the secret. */
export const replaceLastCharacter = (secret: string) =>
  secret.slice(0, -1) + (secret.endsWith("A") ? "B" : "A")
