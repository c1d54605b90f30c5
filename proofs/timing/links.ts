import { randomBytes } from "node:crypto"
import { sendCommand } from "../../packages/server/src/controlSocket.ts"
import { sendJson, type ServerProcess } from "../../packages/server/test/support/ServerProcess.ts"
import {
  replaceLastCharacter,
  newAccount,
  postRequest,
  newEmail,
  type Stopwatch
} from "./senders.ts"
import { measureResponseTimes } from "./Stopwatch.ts"

const uses = 2_000
const tokensOfEach = 20

const unknownToken = () => randomBytes(32).toString("base64url")

const made = async (dataDir: string, command: string, email: string) => {
  const { ok, text } = await sendCommand(dataDir, [command, email])
  if (!ok) throw new Error(text)
  return text.split("\n")[0] ?? ""
}

const makeTokens = async (server: ServerProcess, dataDir: string) => {
  const [resets, emails, invitations]: [Array<string>, Array<string>, Array<string>] = [[], [], []]
  const owner = await newAccount(server)
  for (let index = 0; index < tokensOfEach; index++) {
    const { email } = await newAccount(server)
    resets.push(await made(dataDir, "reset-link", email))
    emails.push(await made(dataDir, "verify-link", email))
    const { body } = await sendJson(server, "POST", `${owner.workspace}/invitations`, {
      token: owner.token,
      body: { email: newEmail(), role: "viewer" }
    })
    invitations.push(String(body.token))
  }
  return { resets, emails, invitations, owner }
}

/** For each kind of token, compares a nearly valid token with an unknown one. */
export const compareLinkTimes = async (
  server: ServerProcess,
  { take }: Stopwatch,
  dataDir: string
) => {
  const { emails, invitations, owner, resets } = await makeTokens(server, dataDir)
  const kinds = {
    "password reset": {
      tokens: resets,
      use: (token: string) =>
        postRequest("/v1/auth/password/reset", { token, new_password: "another long password" })
    },
    "email link": {
      tokens: emails,
      use: (token: string) => postRequest("/v1/auth/email/verify", { token })
    },
    invitation: {
      tokens: invitations,
      use: (token: string) => postRequest("/v1/invitations/accept", { token }, owner.token)
    }
  }
  const results: Record<string, Readonly<Record<"nearly" | "unknown", ReadonlyArray<number>>>> = {}
  for (const [kind, { tokens, use }] of Object.entries(kinds)) {
    const runners = {
      nearly: (round: number) =>
        take(use(replaceLastCharacter(tokens[round % tokens.length] ?? ""))),
      unknown: () => take(use(unknownToken()))
    }
    await measureResponseTimes(100, runners)
    results[kind] = await measureResponseTimes(uses, runners)
  }
  return results
}
