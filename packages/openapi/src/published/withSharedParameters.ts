import { mapOperations } from "../mapValues.ts"
import type { OpenApiDocument, Operation, Parameter, Reference } from "../model.ts"
import { pascal } from "./pascal.ts"

export type OperationWithSharedParameters = Omit<Operation, "parameters"> & {
  readonly parameters: ReadonlyArray<Parameter | Reference>
}

/** A document in which parameters of several operations are components. */
export interface DocumentWithSharedParameters extends Omit<
  OpenApiDocument,
  "components" | "paths"
> {
  readonly paths: Readonly<Record<string, Readonly<Record<string, OperationWithSharedParameters>>>>
  readonly components: OpenApiDocument["components"] & {
    readonly parameters: Readonly<Record<string, Parameter>>
  }
}

/** Turns parameters shared by several operations into components. */
export const withSharedParameters = ({
  components,
  ...document
}: OpenApiDocument): DocumentWithSharedParameters => {
  const operations = Object.values(document.paths).flatMap((path) => Object.values(path))
  const names = sharedNames(operations.flatMap(({ parameters }) => parameters))
  const shared = [...names].map(([text, name]): [string, Parameter] => [name, JSON.parse(text)])
  const paths = mapOperations(document.paths, (operation) => ({
    ...operation,
    parameters: operation.parameters.map((parameter) => {
      const name = names.get(JSON.stringify(parameter))
      return name === undefined ? parameter : { $ref: `#/components/parameters/${name}` }
    })
  }))
  const parameters = Object.fromEntries(shared.toSorted(([one], [other]) => (one < other ? -1 : 1)))
  return { ...document, paths, components: { ...components, parameters } }
}

/**
 * Returns the component names of the shared parameters, by their JSON. If several parameters would
 * have the same name, only the most frequent one is shared.
 */
const sharedNames = (parameters: ReadonlyArray<Parameter>): ReadonlyMap<string, string> => {
  const counts = new Map<string, number>()
  for (const parameter of parameters) {
    const text = JSON.stringify(parameter)
    counts.set(text, (counts.get(text) ?? 0) + 1)
  }
  const texts = new Map<string, string>()
  for (const [text, count] of [...counts].toSorted(([, one], [, other]) => other - one)) {
    const name = nameOf(JSON.parse(text))
    if (count > 1 && !texts.has(name)) texts.set(name, text)
  }
  return new Map([...texts].map(([name, text]) => [text, name]))
}

/** `workspace_id` in the path → `WorkspaceIdInPath` */
const nameOf = ({ in: place, name }: Parameter): string => `${pascal(name)}In${pascal(place)}`
