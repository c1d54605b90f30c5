import { given, textIn } from "../ui/lists/search.ts"

/** The task that a new one is a copy of. */
export const copySearch = ({ from }: Record<string, unknown>): { readonly from?: string } =>
  given({ from: textIn(from) })
