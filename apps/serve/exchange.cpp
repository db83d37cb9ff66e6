#include "exchange.h"

#include <event2/buffer.h>
#include <event2/http.h>

#include <utility>

#include "answers/topics.h"
#include "io/value_json.h"
#include "metrics.h"

namespace tidemark::serve {

Exchange::Exchange(evhttp_request* request, Metrics& metrics, std::string topic)
    : request_(request), metrics_(metrics), topic_(std::move(topic)) {
  // libevent frees the request with its connection.
  evhttp_connection_set_closecb(
      evhttp_request_get_connection(request_),
      [](evhttp_connection*, void* self) { static_cast<Exchange*>(self)->request_ = nullptr; }, this);
}

Exchange::~Exchange() {
  if (request_) refuse(500, "bug", "the question was dropped");
}

std::string Exchange::body() const {
  evbuffer* input = evhttp_request_get_input_buffer(request_);
  std::string text(evbuffer_get_length(input), '\0');
  evbuffer_copyout(input, text.data(), text.size());
  return text;
}

void Exchange::reply(int status, std::string_view media_type, std::string_view body) {
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began_;
  metrics_.count(topic_, status, took.count());
  evhttp_request* request = std::exchange(request_, nullptr);
  if (!request) return;
  evhttp_connection_set_closecb(evhttp_request_get_connection(request), nullptr, nullptr);
  evkeyvalq* headers = evhttp_request_get_output_headers(request);
  evhttp_add_header(headers, "Content-Type", std::string(media_type).c_str());
  evhttp_add_header(headers, "X-Content-Type-Options", "nosniff");
  if (status == 503) evhttp_add_header(headers, "Retry-After", "1");
  evbuffer* output = evbuffer_new();
  evbuffer_add(output, body.data(), body.size());
  evhttp_send_reply(request, status, nullptr, output);
  evbuffer_free(output);
}

void Exchange::refuse(int status, std::string_view code, std::string_view message, std::string_view hint) {
  const Value error =
      Value::Map{{"code", code}, {"message", message}, {"where", ""}, {"hint", hint}, {"bug", status == 500}};
  reply(status, "application/json", io::value_to_json_line(Value::Map{{"error", error}}));
}

}  // namespace tidemark::serve
