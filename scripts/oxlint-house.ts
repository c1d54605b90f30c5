/**
 * The rules of this project that oxlint has no option for. Loaded by `.oxlintrc.json`.
 */
import { dirname, relative, resolve } from "node:path"

/** As much of oxlint's own types as is read here; the package does not export them. */
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

/** `Date.now`, `Date()` and `new Date()`; a `new Date(value)` only converts and is fine. */
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

/** `it.effect.only` and its like: oxlint's own rules know `it.only` but look no deeper. */
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

/** What the files in `src` of a package may not import, and why. */
const borders: Readonly<Record<string, { readonly refuses: RegExp; readonly message: string }>> = {
  domain: {
    refuses: /^(?!effect($|\/)|\.)/,
    message: "The domain imports `effect` and its own files, nothing else."
  },
  sdk: {
    refuses: /^@scheduling\/server($|\/)/,
    message: "The SDK derives from the domain and never sees the server."
  },
  server: {
    refuses: /^@scheduling\/sdk($|\/)/,
    message: "The server does not depend on its own client."
  }
}

const packageBorders = {
  create: (context: Context) => {
    const home = /^(packages\/([^/]+)|[^/]+)\//.exec(relative(context.cwd, context.filename))
    const root = home?.[1]
    const inSource = context.filename.startsWith(resolve(context.cwd, root ?? "", "src"))
    const border = inSource ? borders[home?.[2] ?? ""] : undefined
    const check = (node: Node) => {
      const specifier = node.source?.value
      if (typeof specifier !== "string" || root === undefined) return
      const target = relative(context.cwd, resolve(dirname(context.filename), specifier))
      if (
        specifier.startsWith(".") &&
        target.startsWith("packages/") &&
        !target.startsWith(`${root}/`)
      ) {
        context.report({ node, message: "Import another package by its name, not by a path." })
      }
      if (border?.refuses.test(specifier)) context.report({ node, message: border.message })
    }
    return {
      ImportDeclaration: check,
      ImportExpression: check,
      ExportAllDeclaration: check,
      ExportNamedDeclaration: check
    }
  }
}

export default {
  meta: { name: "house" },
  rules: {
    "no-machine-clock": noMachineClock,
    "no-parked-tests": noParkedTests,
    "package-borders": packageBorders
  }
}
