import { describeError } from "./describeError.ts"
import { ShortTime } from "./Time.tsx"

const isoTime = /(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z)/

/** An API message as a sentence, with its UTC times converted to the user's time zone. */
export const ApiMessage = ({ text }: { readonly text: string }) => (
  <>
    {describeError(text)
      .split(isoTime)
      .map((part, index) => (index % 2 === 0 ? part : <ShortTime key={index} at={part} />))}
  </>
)
