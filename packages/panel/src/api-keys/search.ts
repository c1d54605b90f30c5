import { given, textIn } from "../ui/lists/search.ts"

/** What a new key begins with. */
export interface NewKeySearch {
  readonly name?: string
  /** With commas between them. */
  readonly scopes?: string
}

export const newKeySearch = ({ name, scopes }: Record<string, unknown>): NewKeySearch =>
  given({ name: textIn(name), scopes: textIn(scopes) })
