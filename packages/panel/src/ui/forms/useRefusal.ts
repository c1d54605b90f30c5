import { useEffect, useRef } from "react"

/** Lets the browser refuse the value of a control, in our words. */
export const useRefusal = (refusal: string | undefined) => {
  const control = useRef<HTMLInputElement>(null)
  useEffect(() => control.current?.setCustomValidity(refusal ?? ""), [refusal])
  return control
}
