/* attr.h: the compiler attributes the tree uses, behind names. Nothing else may use __attribute__.
 */
#ifndef HF_BASE_ATTR_H
#define HF_BASE_ATTR_H

#define HF_NODISCARD                  __attribute__((warn_unused_result))
#define HF_FORMAT(string_at, args_at) __attribute__((format(printf, string_at, args_at)))
#define HF_NORETURN_FN                __attribute__((noreturn))
#define HF_UNUSED                     __attribute__((unused))

/* Where the calling function's frame stands on the real stack. */
#define HF_FRAME_ADDRESS() __builtin_frame_address(0)

#endif
