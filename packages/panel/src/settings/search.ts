import { given, textIn } from "../ui/search.ts"

export const auditSearch = ({ text }: Record<string, unknown>): { readonly text?: string } =>
  given({ text: textIn(text) })
