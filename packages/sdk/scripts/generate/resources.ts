import type { Contract, Group, Method, Output, PageField } from "./contract.ts"
import { exampleOf } from "./examples.ts"
import { comment, commentWithExample, pascal } from "./text.ts"

/** `resources.ts`: a class for each group of the contract, a method for each endpoint. */
export const renderResources = (contract: Contract): string => {
  const { groups } = contract
  const classes = groups.map((group) => renderGroup(group, contract))
  const source = classes.join("\n\n")
  const imported = (names: ReadonlyArray<string>) =>
    names
      .filter((name) => new RegExp(`\\b${name}\\b`).test(source))
      .toSorted()
      .join(", ")
  return [
    `import type { ApiPromise } from "../ApiPromise.ts"`,
    `import type { Caller } from "../transport/Caller.ts"`,
    `import type { StreamOptions } from "../reading/events.ts"`,
    `import type { ${imported(["Idempotent", "InWorkspace", "RequestOptions"])} } from "../options.ts"`,
    `import type { PageQuery } from "../reading/PageQuery.ts"`,
    `import type { PagePromise } from "../reading/pagination.ts"`,
    `import { Resource } from "../Resource.ts"`,
    `import { ${[...handWritten.values()].toSorted().join(", ")} } from "../reading/waiting.ts"`,
    `import type { ${imported(typesOf(groups)).replaceAll(", ", ",\n")} } from "./types.ts"`,
    "",
    source,
    "",
    renderResourcesClass(groups)
  ].join("\n")
}

const typesOf = (groups: ReadonlyArray<Group>): ReadonlyArray<string> => {
  const methods = groups.flatMap((group) => group.methods)
  const names = methods.flatMap(({ ids, input, output }) => [
    ...ids.map(({ type }) => type),
    ...(input === undefined ? [] : [input.type]),
    ...(output.kind === "record" || output.kind === "events" ? [output.type] : []),
    ...(output.kind === "pages" ? [output.item, ...output.more.map(({ type }) => type)] : [])
  ])
  return [...new Set(names)].filter((name) => name !== "string" && name !== "PageQuery")
}

const className = ({ name }: Group) => `${pascal(name)}Resource`

/**
 * The hand-written classes beside the generated ones, with methods that make more than one call.
 */
const handWritten: ReadonlyMap<string, string> = new Map([
  ["executions", "ExecutionsBase"],
  ["cron", "CronBase"],
  ["delayed", "DelayedBase"],
  ["chains", "ChainsBase"]
])

const renderGroup = (group: Group, contract: Contract): string =>
  `${comment(group.description)}export class ${className(group)} extends ${handWritten.get(group.name) ?? "Resource"} {
    ${group.methods.map((method) => renderMethod(group, method, contract)).join("\n\n")}
  }`

const renderMethod = (group: Group, method: Method, contract: Contract): string => {
  const { ids, input, path, verb } = method
  const parameters = [
    ...ids.map(({ name, type }) => `${name}: ${type}`),
    ...(input === undefined ? [] : [`${input.kind}${input.isOptional ? "?" : ""}: ${input.type}`]),
    `options?: ${optionsOf(method)}`
  ]
  const parts = [
    `verb: "${verb}"`,
    `path: "${path}"`,
    ids.length > 0 &&
      `ids: { ${ids.map(({ name, wire }) => (wire === name ? name : `${wire}: ${name}`)).join(", ")} }`,
    input !== undefined &&
      (input.kind === "body" && input.isOptional ? "body: body ?? {}" : input.kind),
    method.isPublic && "isPublic: true",
    method.acceptsKey && "acceptsKey: true",
    "options"
  ]
  const send = sends[method.output.kind]
  return [
    commentWithExample(
      [sentence(method.summary), ...method.description.split("\n\n")],
      exampleOf(group.name, method, contract)
    ),
    `${method.name}(${parameters.join(", ")}): ${returned(method.output)} {\n`,
    `return this.${send}({ ${parts.filter((part) => part !== false).join(", ")} })\n}`
  ].join("")
}

const sends = { nothing: "call", record: "call", events: "following", pages: "pages" }

const sentence = (text: string) => (/[.?!]$/.test(text) ? text : `${text}.`)

const optionsOf = ({ acceptsKey, inWorkspace, output }: Method): string =>
  [
    output.kind === "events" ? "StreamOptions" : "RequestOptions",
    ...(inWorkspace ? ["InWorkspace"] : []),
    ...(acceptsKey ? ["Idempotent"] : [])
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
  `/** The methods of the service, one member for each group of the contract. */
  export class Resources {
    ${groups.map((group) => `${comment(group.description)}readonly ${group.name}: ${className(group)}`).join("\n")}

    constructor(caller: Caller) {
      ${groups.map((group) => `this.${group.name} = new ${className(group)}(caller)`).join("\n")}
    }
  }`
