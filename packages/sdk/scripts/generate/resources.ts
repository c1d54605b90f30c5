import type { Contract, Group, Method, Output, PageField } from "./contract.ts"
import { renderExample } from "./examples.ts"
import { docComment, docCommentWithExample, pascal } from "./text.ts"
import { renderTypes } from "./types.ts"

/** The names of files in `src/generated`, without `.ts`. */
type Homes = ReadonlyMap<string, string>

/**
 * Renders one file per group of the contract: its class, one method per endpoint, and the types
 * that no other group uses. Shared types are in `shared.ts`; `resources.ts` combines all files.
 */
export const renderResources = (contract: Contract): Readonly<Record<string, string>> => {
  const { groups } = contract
  const types = renderTypes(contract)
  const homes = homesOf(contract, Object.keys(types))
  const file = (home: string, code: ReadonlyArray<string>) => {
    const own = Object.keys(types).filter((name) => homes.get(name) === home)
    const source = [...code, ...own.map((name) => types[name] ?? "")].join("\n\n")
    return `${importsOf(source, home, homes)}\n\n${source}`
  }
  return {
    ...Object.fromEntries(
      groups.map((group) => [`${group.name}.ts`, file(group.name, [renderGroup(group, contract)])])
    ),
    "shared.ts": file(shared, []),
    "resources.ts": renderResourcesClass(groups)
  }
}

const shared = "shared"

/**
 * Types that the hand-written sources use. The resources import those sources, so these types must
 * be in `shared.ts`.
 */
const usedByHand = [
  "TokenPair",
  "PasswordChange",
  "WhoAmI",
  "ChainRun",
  "ChainRunDetail",
  "ExecutionDetail",
  "RunRequest",
  "WebhookEvent"
]

/** Assigns each type to the only group that uses it, or else to `shared.ts`. */
const homesOf = (contract: Contract, types: ReadonlyArray<string>): Homes => {
  const common = reachable(usedByHand, contract)
  const groups = contract.groups.map((group) => [group.name, typesOf(group, contract)] as const)
  return new Map(
    types.map((name) => {
      const users = groups.filter(([, reached]) => reached.has(name)).map(([home]) => home)
      const [only = shared] = users.length === 1 && !common.has(name) ? users : []
      return [name, only]
    })
  )
}

const typesOf = ({ methods }: Group, contract: Contract): ReadonlySet<string> =>
  reachable(
    methods.flatMap(({ inputs, output }) => [
      ...inputs.map(({ type }) => type),
      ...(output.kind === "record" || output.kind === "events" ? [output.type] : []),
      ...(output.kind === "pages"
        ? [output.item, ...output.more.map(({ type }) => type).filter((type) => /^\w+$/.test(type))]
        : [])
    ]),
    contract
  )

/** Returns the given types and all types that they use, directly or indirectly. */
const reachable = (
  names: ReadonlyArray<string>,
  { queries, schemas }: Pick<Contract, "queries" | "schemas">,
  found = new Set<string>()
): ReadonlySet<string> => {
  for (const name of names) {
    if (found.has(name)) continue
    found.add(name)
    const used = schemas[name] ?? queries.find(({ type }) => type === name)?.parameters ?? {}
    const references = JSON.stringify(used).matchAll(/"#\/components\/schemas\/([^"]+)"/g)
    reachable(
      [...references].map(([, one = ""]) => one),
      { queries, schemas },
      found
    )
  }
  return found
}

/** The possible imports of a generated file: hand-written sources and `shared.ts`. */
const importable: ReadonlyArray<
  readonly [module: string, kind: string, names: ReadonlyArray<string>]
> = [
  ["../ApiPromise.ts", "type ", ["ApiPromise"]],
  ["../Id.ts", "type ", ["Id"]],
  ["../options.ts", "type ", ["Idempotent", "InWorkspace", "RequestOptions", "Versioned"]],
  ["../reading/events.ts", "type ", ["StreamOptions"]],
  ["../reading/PageQuery.ts", "type ", ["PageQuery"]],
  ["../reading/pagination.ts", "type ", ["PagePromise"]],
  ["../reading/waiting.ts", "", ["ChainsBase", "CronBase", "DelayedBase", "ExecutionsBase"]],
  ["../Resource.ts", "", ["Resource"]]
]

const importsOf = (source: string, home: string, homes: Homes): string => {
  const code = source.replaceAll(/\/\*\*.*?\*\//gs, "")
  const common = [...homes].filter(([, one]) => one === shared).map(([name]) => name)
  return [
    ...importable,
    ...(home === shared ? [] : [["./shared.ts", "type ", common.toSorted()] as const])
  ]
    .flatMap(([module, kind, names]) => {
      const used = names.filter((name) => new RegExp(`\\b${name}\\b`).test(code))
      return used.length === 0 ? [] : [`import ${kind}{ ${used.join(", ")} } from "${module}"`]
    })
    .join("\n")
}

const className = ({ name }: Group) => `${pascal(name)}Resource`

/** Hand-written base classes with methods that make more than one call. */
const handWritten: ReadonlyMap<string, string> = new Map([
  ["executions", "ExecutionsBase"],
  ["cron", "CronBase"],
  ["delayed", "DelayedBase"],
  ["chains", "ChainsBase"]
])

const renderGroup = (group: Group, contract: Contract): string =>
  `${docComment(group.description)}export class ${className(group)} extends ${handWritten.get(group.name) ?? "Resource"} {
    ${group.methods.map((method) => renderMethod(group, method, contract)).join("\n\n")}
  }`

/** The client adds this part of a path. */
const workspacePath = "/v1/workspaces/{workspace_id}/"

const renderMethod = (group: Group, method: Method, contract: Contract): string => {
  const { ids, inputs, inWorkspace, path, verb } = method
  const parameters = [
    ...ids.map(({ name, type }) => `${name}: ${type}`),
    ...inputs.map(({ isOptional, kind, type }) => `${kind}${isOptional ? "?" : ""}: ${type}`),
    `options?: ${optionsOf(method)}`
  ]
  const parts = [
    `route: "${verb} ${inWorkspace ? path.slice(workspacePath.length) : path}"`,
    ids.length > 0 && `ids: [${ids.map(({ name }) => name).join(", ")}]`,
    ...inputs.map(({ isOptional, kind }) =>
      kind === "body" && isOptional ? "body: body ?? {}" : kind
    ),
    method.isPublic && "isPublic: true",
    method.acceptsKey && "acceptsKey: true",
    "options"
  ]
  const send = sends[method.output.kind]
  return [
    docCommentWithExample(
      [sentence(method.summary), ...method.description.split("\n\n")],
      renderExample(group.name, method, contract)
    ),
    `${method.name}(${parameters.join(", ")}): ${returned(method.output)} {\n`,
    `return this.${send}({ ${parts.filter((part) => part !== false).join(", ")} })\n}`
  ].join("")
}

const sends = { nothing: "call", record: "call", events: "following", pages: "pages" }

const sentence = (text: string) => (/[.?!]$/.test(text) ? text : `${text}.`)

const optionsOf = ({ acceptsKey, acceptsVersion, inWorkspace, output }: Method): string =>
  [
    output.kind === "events" ? "StreamOptions" : "RequestOptions",
    ...(inWorkspace ? ["InWorkspace"] : []),
    ...(acceptsKey ? ["Idempotent"] : []),
    ...(acceptsVersion ? ["Versioned"] : [])
  ].join(" & ")

const returned = (output: Output): string => {
  switch (output.kind) {
    case "nothing":
      return "ApiPromise<void>"
    case "record":
      return `ApiPromise<${output.type}>`
    case "events":
      return `AsyncIterable<${output.type}>`
    case "pages":
      return `PagePromise<${[output.item, ...moreOf(output.more)].join(", ")}>`
  }
}

const moreOf = (fields: ReadonlyArray<PageField>): ReadonlyArray<string> =>
  fields.length === 0
    ? []
    : [`{ ${fields.map(({ name, type }) => `readonly ${name}: ${type}`).join("; ")} }`]

const renderResourcesClass = (groups: ReadonlyArray<Group>): string =>
  `import type { Caller } from "../transport/Caller.ts"
  ${groups.map((group) => `import { ${className(group)} } from "./${group.name}.ts"`).join("\n")}

  ${[...groups.map(({ name }) => name), shared].map((name) => `export type * from "./${name}.ts"`).join("\n")}

  /** The methods of the service, one member for each group of the contract. */
  export class Resources {
    ${groups.map((group) => `${docComment(group.description)}readonly ${group.name}: ${className(group)}`).join("\n")}

    constructor(caller: Caller) {
      ${groups.map((group) => `this.${group.name} = new ${className(group)}(caller)`).join("\n")}
    }
  }`
