import { SchedulingClient, TotpRequiredError } from "@scheduling/sdk"
import { env } from "node:process"
import { type Command, CommandError, exitStatus, requiredArgument } from "../Command.ts"
import { readConfig, saveContext, writeConfig } from "../configFile.ts"
import { formatCell, printNote, print, printJson, printTable } from "../output.ts"
import { askForLine } from "../readInput.ts"
import { currentContext, defaultUrl, makeClient } from "../session.ts"

const logIn = async (url: string, email: string) => {
  const anonymous = new SchedulingClient({ baseUrl: url, tokens: undefined })
  const password = await askForLine("Password: ", true)
  try {
    return await anonymous.auth.login({ email, password })
  } catch (error) {
    if (!(error instanceof TotpRequiredError)) throw error
    const totp = await askForLine("Code of the second factor: ")
    return await anonymous.auth.login({ email, password, totp })
  }
}

const login: Command = {
  name: "login",
  summary: "Stores a credential for the service.",
  details:
    "Reads an API key, or with --email a password, from the terminal or standard input. The file\n~/.config/scheduling/config.json stores it, readable only by you.",
  options: {
    url: { value: "URL", description: "Address of the service. SCHEDULING_URL when absent." },
    email: { value: "EMAIL", description: "Starts a session of this account." },
    workspace: { value: "ID", description: "The workspace, if there are several." },
    context: { value: "NAME", description: "Name of the context. `default` when absent." }
  },
  examples: [
    "scheduling login --url https://scheduling.example.com < key.txt",
    "scheduling login --url https://scheduling.example.com --email ada@example.com < password.txt"
  ],
  run: async (given) => {
    const url = given.value("url") ?? env["SCHEDULING_URL"] ?? defaultUrl
    const name = given.value("context") ?? "default"
    const workspace_id = given.value("workspace")
    const workspace = workspace_id !== undefined && { workspace_id }
    const email = given.value("email")
    if (email === undefined) {
      const api_key = await askForLine("API key: ", true)
      const who = await new SchedulingClient({ baseUrl: url, apiKey: api_key }).workspaces.whoami()
      if (!("key_prefix" in who))
        throw new CommandError("This is not an API key. API keys start with pak_.")
      saveContext(name, { url, api_key, workspace_id: who.workspace_id })
      printNote(`Logged in to ${url} with the key ${who.key_prefix}….`)
      return exitStatus.success
    }
    const { access_token, refresh_token } = await logIn(url, email)
    saveContext(name, { url, tokens: { access_token, refresh_token }, ...workspace })
    printNote(`Logged in to ${url} as ${email}.`)
    return exitStatus.success
  }
}

const logout: Command = {
  name: "logout",
  summary: "Ends the session and deletes the credential of the current context.",
  options: { context: { value: "NAME", description: "Another context." } },
  examples: ["scheduling logout", "scheduling logout --context default"],
  run: async (given) => {
    const { contexts, current } = readConfig()
    const name = given.value("context") ?? current
    const { [name ?? ""]: settings, ...others } = contexts
    if (name === null || settings === undefined) {
      throw new CommandError(
        "No credential is stored for this context. See: scheduling context list"
      )
    }
    const { tokens, url } = settings
    if (tokens !== undefined) {
      // The credential is deleted even if the service is unreachable or the session has ended.
      await new SchedulingClient({ baseUrl: url, tokens }).logout().catch(() => {})
    }
    writeConfig({
      current: name === current ? (Object.keys(others)[0] ?? null) : current,
      contexts: others
    })
    printNote(`Logged out of ${url}.`)
    return exitStatus.success
  }
}

const whoami: Command = {
  name: "whoami",
  summary: "Shows the credential and the workspace in use.",
  options: { json: { description: "Prints JSON." } },
  examples: ["scheduling whoami", "scheduling whoami --json"],
  run: async (given) => {
    const { tokens, url } = currentContext()
    const client = makeClient()
    const facts =
      tokens === undefined
        ? { url, ...(await client.workspaces.whoami()) }
        : { url, ...(await client.auth.getMe()), workspace_id: await client.getWorkspaceId() }
    if (given.has("json")) printJson(facts)
    else
      for (const [name, value] of Object.entries(facts))
        print(`${name.padEnd(14)} ${formatCell(value)}`)
    return exitStatus.success
  }
}

const contextList: Command = {
  name: "context list",
  summary: "Lists the contexts.",
  options: { json: { description: "Prints one JSON object per line." } },
  examples: ["scheduling context list", "scheduling context list --json"],
  run: (given) => {
    const { contexts, current } = readConfig()
    const rows = Object.entries(contexts).map(([name, { api_key, url }]) => ({
      name,
      url,
      credential: api_key === undefined ? "session" : "api_key",
      current: name === current
    }))
    if (given.has("json")) for (const row of rows) printJson(row)
    else
      printTable(
        ["", "name", "url", "credential"],
        rows.map((row) => [row.current ? "*" : "", row.name, row.url, row.credential])
      )
    return exitStatus.success
  }
}

const contextUse: Command = {
  name: "context use",
  summary: "Selects the current context.",
  usage: "NAME",
  words: [1, 1],
  examples: [
    "scheduling context use default",
    "scheduling context use default && scheduling whoami"
  ],
  run: (given) => {
    const config = readConfig()
    const name = requiredArgument(given, 0)
    if (!Object.hasOwn(config.contexts, name)) {
      throw new CommandError(
        `There is no context "${name}". \`scheduling login --context ${name}\` creates it.`
      )
    }
    writeConfig({ ...config, current: name })
    printNote(`The current context is now ${name}.`)
    return exitStatus.success
  }
}

export const sessionCommands = [login, logout, whoami, contextList, contextUse]
