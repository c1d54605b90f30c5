import type { Endpoint } from "../contract/endpoints.ts"
import type { CodeSample } from "../model.ts"

interface Sampled {
  readonly body: unknown
  readonly answer: "nothing" | "record" | "events"
}

/**
 * Returns code samples of a call with the SDK, with curl, and with the standard libraries of Python
 * and Go.
 */
export const codeSamplesOf = (endpoint: Endpoint, sampled: Sampled): ReadonlyArray<CodeSample> => [
  { lang: "TypeScript", label: "TypeScript", source: typescript(endpoint, sampled) },
  { lang: "Shell", label: "curl", source: curl(endpoint, sampled) },
  { lang: "Python", label: "Python", source: python(endpoint, sampled) },
  { lang: "Go", label: "Go", source: go(endpoint, sampled) }
]

const typescript = (
  { access, name, params, path }: Endpoint,
  { answer, body }: Sampled
): string => {
  const inWorkspace = path.includes("/{workspace_id}/")
  const ids = params.filter((param) => !(inWorkspace && param === "workspace_id")).map(camel)
  const inputs = body === undefined ? [] : [asLiteral(body)]
  const call = `client.${name}(${[...ids, ...inputs].join(", ")})`
  const use = {
    nothing: `await ${call}`,
    record: `const answer = await ${call}`,
    events: `for await (const event of ${call}) console.log(event)`
  }
  const made =
    access.kind === "public"
      ? "new SchedulingClient()"
      : access.kind === "jwt"
        ? "await SchedulingClient.login({ email, password })"
        : "new SchedulingClient({ apiKey: process.env.SCHEDULING_API_KEY })"
  return [
    'import { SchedulingClient } from "@scheduling/sdk"',
    "",
    `const client = ${made}`,
    use[answer]
  ].join("\n")
}

const curl = (endpoint: Endpoint, { answer, body }: Sampled): string => {
  const url = endpoint.path.replaceAll(pathParameter, (_, name: string) => `$${variable(name)}`)
  const credential = credentialVariable(endpoint)
  return [
    `curl ${answer === "events" ? "-N " : ""}"$SCHEDULING_URL${url}"`,
    ...(endpoint.method === "get" ? [] : [`-X ${endpoint.method.toUpperCase()}`]),
    ...(credential === undefined ? [] : [`-H "Authorization: Bearer $${credential}"`]),
    ...(body === undefined
      ? []
      : [
          '-H "Content-Type: application/json"',
          `-d '${JSON.stringify(body).replaceAll("'", "'\\''")}'`
        ])
  ].join(" \\\n  ")
}

const python = (endpoint: Endpoint, { answer, body }: Sampled): string => {
  const url = endpoint.path.replaceAll(
    pathParameter,
    (_, name: string) => `{os.environ['${variable(name)}']}`
  )
  const credential = credentialVariable(endpoint)
  const headers = [
    ...(credential === undefined
      ? []
      : [`"Authorization": f"Bearer {os.environ['${credential}']}"`]),
    ...(body === undefined ? [] : ['"Content-Type": "application/json"'])
  ]
  const modules = [
    ...(body !== undefined || answer === "record" ? ["json"] : []),
    "os",
    "urllib.request"
  ]
  return [
    `import ${modules.join(", ")}`,
    "",
    ...(body === undefined ? [] : [`body = ${asPython(body)}`]),
    "request = urllib.request.Request(",
    `    f"{os.environ['SCHEDULING_URL']}${url}",`,
    `    method="${endpoint.method.toUpperCase()}",`,
    ...(headers.length === 0 ? [] : [`    headers={${headers.join(", ")}},`]),
    ...(body === undefined ? [] : ["    data=json.dumps(body).encode(),"]),
    ")",
    "with urllib.request.urlopen(request) as response:",
    {
      nothing: "    print(response.status)",
      record: "    print(json.load(response))",
      events: '    for line in response:\n        print(line.decode(), end="")'
    }[answer]
  ].join("\n")
}

const go = (endpoint: Endpoint, { body }: Sampled): string => {
  const url = ['os.Getenv("SCHEDULING_URL")']
  for (const [index, part] of endpoint.path.split(pathParameter).entries()) {
    if (part !== "") url.push(index % 2 === 0 ? `"${part}"` : `os.Getenv("${variable(part)}")`)
  }
  const credential = credentialVariable(endpoint)
  const imports = ["io", "log", "net/http", "os", ...(body === undefined ? [] : ["strings"])]
  return [
    "package main",
    "",
    `import (\n${imports.map((name) => `\t"${name}"`).join("\n")}\n)`,
    "",
    "func main() {",
    ...(body === undefined ? [] : [`\tbody := strings.NewReader(${asGoText(body)})`]),
    `\trequest, err := http.NewRequest("${endpoint.method.toUpperCase()}", ${url.join("+")}, ${body === undefined ? "nil" : "body"})`,
    "\tif err != nil {\n\t\tlog.Fatal(err)\n\t}",
    ...(credential === undefined
      ? []
      : [`\trequest.Header.Set("Authorization", "Bearer "+os.Getenv("${credential}"))`]),
    ...(body === undefined ? [] : ['\trequest.Header.Set("Content-Type", "application/json")']),
    "\tresponse, err := http.DefaultClient.Do(request)",
    "\tif err != nil {\n\t\tlog.Fatal(err)\n\t}",
    "\tdefer response.Body.Close()",
    "\tlog.Print(response.Status)",
    "\tio.Copy(os.Stdout, response.Body)",
    "}"
  ].join("\n")
}

const pathParameter = /\{(\w+)\}/g

/** Returns the name of the environment variable for a path parameter's value. */
const variable = (parameter: string): string => parameter.toUpperCase()

const credentialVariable = ({ access }: Endpoint): string | undefined =>
  access.kind === "public" ? undefined : access.kind === "jwt" ? "ACCESS_TOKEN" : "API_KEY"

/** Formats a value as a literal without unnecessary quotes around names. */
const asLiteral = (value: unknown): string =>
  JSON.stringify(value, null, 2).replaceAll(/^(\s*)"([A-Za-z_]\w*)":/gm, "$1$2:")

const pythonWords: Readonly<Record<string, string>> = { true: "True", false: "False", null: "None" }

/**
 * Formats a value as Python. Python differs from JSON only in three words, which are replaced
 * outside strings.
 */
const asPython = (value: unknown): string =>
  JSON.stringify(value, null, 4).replaceAll(
    /"(?:[^"\\]|\\.)*"|\b(?:true|false|null)\b/g,
    (token) => pythonWords[token] ?? token
  )

/** Formats JSON as a Go string. A raw string is easier to read, but cannot contain a backquote. */
const asGoText = (value: unknown): string => {
  const json = JSON.stringify(value)
  return json.includes("`") ? JSON.stringify(json) : `\`${json}\``
}

/** `task_id` → `taskId` */
const camel = (name: string) =>
  name.replaceAll(/_(\w)/g, (_, letter: string) => letter.toUpperCase())
