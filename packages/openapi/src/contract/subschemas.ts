import type { SchemaAST } from "effect"

const partsOf = (ast: SchemaAST.AST): ReadonlyArray<SchemaAST.AST> => {
  switch (ast._tag) {
    case "Declaration":
      return ast.typeParameters
    case "Objects":
      return [...ast.propertySignatures, ...ast.indexSignatures].map(({ type }) => type)
    case "Arrays":
      return [...ast.elements, ...ast.rest]
    case "Union":
      return ast.types
    case "Suspend":
      return [ast.thunk()]
    default:
      return []
  }
}

/** Returns a schema and all its nested schemas. */
export const subschemas = (
  ast: SchemaAST.AST,
  seen = new Set<SchemaAST.AST>()
): ReadonlyArray<SchemaAST.AST> => {
  if (seen.has(ast)) return []
  seen.add(ast)
  return [ast, ...partsOf(ast).flatMap((part) => subschemas(part, seen))]
}
