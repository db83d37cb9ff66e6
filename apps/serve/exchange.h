// One request and its reply, which outlives the client that goes away meanwhile.
#pragma once
#include <chrono>
#include <memory>
#include <string>
#include <string_view>

struct evhttp_request;

namespace tidemark::serve {

class Metrics;

class Exchange {
 public:
  /// `topic` is how it is counted.
  Exchange(evhttp_request* request, Metrics& metrics, std::string topic);
  ~Exchange();
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;

  /// Once.  Nothing is sent to a client that has gone.
  void reply(int status, std::string_view media_type, std::string_view body);
  /// {"error": …} in the form of all errors.
  void refuse(int status, std::string_view code, std::string_view message, std::string_view hint = {});

  const std::string& topic() const { return topic_; }
  std::string body() const;

 private:
  evhttp_request* request_;  // null once it has been replied to, or the client has gone
  Metrics& metrics_;
  std::string topic_;
  std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
};

}  // namespace tidemark::serve
