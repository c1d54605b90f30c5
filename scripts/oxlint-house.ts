/** Lint rules for this project that oxlint does not have. Loaded by `.oxlintrc.json`. */
import { globSync, readFileSync } from "node:fs"
import { dirname, join, normalize, relative } from "node:path"
import { packageImports, panelImports, serverImports } from "./modules.ts"

/** The part of oxlint's types that this file uses. The package does not export them. */
interface Node {
  readonly type: string
  readonly name?: string
  readonly value?: unknown
  readonly computed?: boolean
  readonly source?: Node | null
  readonly callee?: Node
  readonly object?: Node
  readonly property?: Node
  readonly arguments?: ReadonlyArray<Node>
}
interface Context {
  readonly cwd: string
  readonly filename: string
  readonly report: (problem: { readonly node: Node; readonly message: string }) => void
}

/**
 * Forbids `Date.now`, `Date()` and `new Date()`. Allows `new Date(value)`, which only converts a
 * value.
 */
const noMachineClock = {
  create: (context: Context) => {
    const report = (node: Node) =>
      context.report({
        node,
        message:
          "Time is an input: `Clock`, `DateTime.now` or a parameter, so that a test can set it."
      })
    const isDate = (node: Node | undefined) => node?.type === "Identifier" && node.name === "Date"
    return {
      NewExpression: (node: Node) => {
        if (isDate(node.callee) && node.arguments?.length === 0) report(node)
      },
      CallExpression: (node: Node) => {
        if (isDate(node.callee)) report(node)
      },
      MemberExpression: (node: Node) => {
        if (isDate(node.object) && propertyName(node) === "now") report(node)
      }
    }
  }
}

const testFunctions = new Set<unknown>(["it", "test", "describe"])
const parked = new Set<unknown>(["only", "skip", "todo", "fails"])

/** Forbids `it.effect.only` and similar calls, because oxlint's own rules find only `it.only`. */
const noParkedTests = {
  create: (context: Context) => ({
    MemberExpression: (node: Node) => {
      const name = propertyName(node)
      if (testFunctions.has(node.object?.object?.name) && parked.has(name)) {
        context.report({ node, message: `Every committed test runs and counts: no \`.${name}\`.` })
      }
    }
  })
}

const propertyName = (node: Node) => (node.computed ? node.property?.value : node.property?.name)

/** Returns a file's server module or panel folder. Undefined for other files. */
const moduleOf = (path: string) => /^packages\/(?:server|panel)\/src\/([^/]+)\//.exec(path)?.[1]
const moduleImports = { server: serverImports, panel: panelImports }
const packageOf = (path: string) => /^packages\/([^/]+)\//.exec(path)?.[1]

const whyNot = (file: string, specifier: string): string | undefined => {
  const from = packageOf(file)
  const inSource = file.startsWith(`packages/${from}/src/`)
  if (specifier.startsWith(".")) {
    const target = normalize(join(dirname(file), specifier))
    const to = packageOf(target)
    if (from !== undefined && to !== undefined && from !== to) {
      return "Import another package by its name, not by a path."
    }
    const [module, other] = [moduleOf(file), moduleOf(target)]
    if (other === undefined || module === other) return undefined
    if (from === "server" && inSource && target !== `packages/server/src/${other}/index.ts`) {
      return `Import from ${other}/index.ts and not from another file of the module.`
    }
    const imports = moduleImports[from === "panel" ? "panel" : "server"]
    return module === undefined || imports[module]?.includes(other)
      ? undefined
      : `scripts/modules.ts does not let ${module}/ import ${other}/.`
  }
  if (from === undefined || !inSource) return undefined
  const to = /^@scheduling\/([^/]+)/.exec(specifier)?.[1]
  if (to !== undefined && to !== from && !packageImports[from]?.includes(to)) {
    return `scripts/modules.ts does not let packages/${from} import packages/${to}.`
  }
  if (from === "schedules") return "The schedules import their own files, nothing else."
  return from === "domain" && to !== "schedules" && !/^effect($|\/)/.test(specifier)
    ? "The domain imports `effect`, the schedules and its own files, nothing else."
    : undefined
}

// An entry lists only entries above it. Otherwise, two entries could import each other.
for (const table of [packageImports, serverImports, panelImports]) {
  const above = new Set<string>()
  for (const [entry, imports] of Object.entries(table)) {
    const wrong = imports.find((name) => !above.has(name))
    if (wrong !== undefined) throw new Error(`scripts/modules.ts: ${wrong} is not above ${entry}`)
    above.add(entry)
  }
}

/** Returns the imports in the source, as `module other` and `package other`. */
const importsIn = (cwd: string): ReadonlySet<string> => {
  const imports = new Set<string>()
  for (const file of globSync("packages/*/src/**/*.{ts,tsx}", { cwd })) {
    const text = readFileSync(join(cwd, file), "utf8")
    for (const [, specifier = ""] of text.matchAll(/(?:from|import)\s*\(?\s*"([^"]+)"/g)) {
      const from = packageOf(file)
      const other = /^@scheduling\/([^/]+)/.exec(specifier)?.[1]
      if (other !== undefined) imports.add(`packages/${from} packages/${other}`)
      else if (specifier.startsWith(".")) {
        const target = normalize(join(dirname(file), specifier))
        imports.add(`${from}/${moduleOf(file)} ${from}/${moduleOf(target)}`)
      }
    }
  }
  return imports
}

/** Returns the entries of `scripts/modules.ts` that no import uses. */
const unusedGrants = (cwd: string): ReadonlyArray<string> => {
  const imports = importsIn(cwd)
  const tables = { packages: packageImports, server: serverImports, panel: panelImports }
  return Object.entries(tables).flatMap(([place, table]) =>
    Object.entries(table).flatMap(([name, granted]) =>
      granted
        .filter((other) => !imports.has(`${place}/${name} ${place}/${other}`))
        .map((other) => `${place}/${name} → ${place}/${other}`)
    )
  )
}

const borders = {
  create: (context: Context) => {
    const file = relative(context.cwd, context.filename)
    if (file === "scripts/modules.ts") {
      return {
        Program: (node: Node) => {
          for (const grant of unusedGrants(context.cwd)) {
            context.report({ node, message: `Nothing needs the grant ${grant}.` })
          }
        }
      }
    }
    const check = (node: Node) => {
      const specifier = node.source?.value
      const message = typeof specifier === "string" ? whyNot(file, specifier) : undefined
      if (message !== undefined) context.report({ node, message })
    }
    return {
      ImportDeclaration: check,
      ImportExpression: check,
      ExportAllDeclaration: check,
      ExportNamedDeclaration: check
    }
  }
}

const writesRuns = /\b(?:UPDATE|INSERT\s+INTO|DELETE\s+FROM)\s+runs\b/i
const transitions = "packages/server/src/engine/transitions/"

/**
 * Allows only `engine/transitions/` to write to the `runs` table, so that all changes to a run's
 * status are in one folder.
 */
const onlyTransitionsWriteRuns = {
  create: (context: Context) => {
    const file = relative(context.cwd, context.filename)
    if (!file.startsWith("packages/server/src/") || file.startsWith(transitions)) return {}
    const check = (node: Node, text: unknown) => {
      if (typeof text === "string" && writesRuns.test(text)) {
        context.report({
          node,
          message: "Only engine/transitions/ writes `runs`: use a transition of engine/RunState.ts."
        })
      }
    }
    return {
      Literal: (node: Node) => check(node, node.value),
      TemplateElement: (node: Node & { readonly value: { readonly raw: string } }) =>
        check(node, node.value.raw)
    }
  }
}

export default {
  meta: { name: "house" },
  rules: {
    "no-machine-clock": noMachineClock,
    "no-parked-tests": noParkedTests,
    borders,
    "only-transitions-write-runs": onlyTransitionsWriteRuns
  }
}
